# Fixes that `keel run` is asked for, and the Python that it hands them to.
export KEEL_RUN_DIR=runs PYTHONDONTWRITEBYTECODE=1
keel fixes
keel fixes --json | python3 -c 'import json, sys; print([fix["name"] for fix in json.load(sys.stdin)])'
show='echo ${KEEL_FIX-none}'
keel run --quiet -- sh -c "$show"
keel run --quiet --fix -- sh -c "$show"
keel run --quiet --fix=sharding-retrace,all -- sh -c "$show"
KEEL_FIX=all keel run --quiet -- sh -c "$show"
keel run --quiet --fix=sharding-retrace,nothing -- true; echo "exit $?"
keel run --quiet --fix= -- true; echo "exit $?"
keel fixes --fix; echo "exit $?"
# A fix that was asked for and found nothing to mend is reported.
keel run --fix -- true
# Every Python below has Keel's package, its own path and its own sitecustomize.
mkdir own && echo 'print("own sitecustomize", __name__, __file__)' >own/sitecustomize.py
cat >look.py <<'END'
import sys
import keel
print(keel.version, keel.library_path(), keel.step(), [fix.name for fix in keel.fixes.known()])
print([path for path in sys.path if "keel" in path], sys.modules["sitecustomize"].__file__)
END
PYTHONPATH=$PWD/own keel run --quiet -- python3 look.py
PYTHONPATH=$PWD/own keel run --quiet -- keel run --quiet -- sh -c 'echo $PYTHONPATH'
keel run --quiet -- python3 -I -c 'import sys; print([p for p in sys.path if "keel" in p])'
# A program's own module of the name stays its own.
echo 'print("own keel")' >keel.py
keel run --quiet -- python3 -c 'import keel'
# A Keel without its package does all but this; a table that is damaged is named.
mkdir -p bare/bin bare/lib
cp "$(command -v keel)" bare/bin/
cp "$(dirname "$(command -v keel)")/../lib/libkeel_pjrt.so" bare/lib/
export KEEL_PLUGIN=bare/lib/plugin.so
cp bare/lib/libkeel_pjrt.so bare/lib/plugin.so
bare/bin/keel run --quiet -- sh -c 'echo ${PYTHONPATH-none}'
bare/bin/keel run --quiet --fix -- true; echo "exit $?"
bare/bin/keel fixes; echo "exit $?"
mkdir -p bare/lib/keel/python/keel/fixes
for table in '[{"name": 1}]' '{}' '[' ''; do
    echo "$table" >bare/lib/keel/python/keel/fixes/fixes.json
    bare/bin/keel run --fix -- true; echo "exit $?"
done
