# What hangs has an end. Only a build with faults hangs in a file operation; elsewhere there is nothing
# to wait for.
export KEEL_RUN_DIR=runs KEEL_CACHE_DIR=cache
python=$(command -v python3)
mkdir -p venv/bin venv/lib/python3.12/site-packages/jax-0.12.0.dist-info shims
cp /bin/true venv/bin/python3
printf 'home = /opt/python/bin\nversion = 3.12.4\n' >venv/pyvenv.cfg
: >plugin.so

for seconds in 0 x 1.5 86401; do
    keel bundle --timeout "$seconds"; echo "exit $?"
done

# A plugin that hangs: the rest is collected all the same.
plugin=$(dirname "$(command -v keel)")/../lib/keel_test_plugin.so
TEST_PLUGIN=client_hangs keel bundle --timeout 5 --plugin "$plugin" --python venv/bin/python3 >text
echo "exit $?"; grep 'trouble\|^  jax' text

# A version manager's script that goes on writing, and what it started.
printf '#!/bin/sh\nsleep 3000 &\necho $! >child\nwhile printf x; do sleep 1; done\n' >shims/python3
chmod +x shims/python3
PATH=$HOME/shims:$PATH keel bundle --fast --plugin ./plugin.so | grep '^  path.*python'
child=$(cat child)
while kill -0 "$child" 2>/dev/null && ! grep -qs '^State:.*Z' /proc/$child/status; do sleep 0.1; done
echo "what it started has ended"

# A disk whose server is gone, at each file operation of some.
export KEEL_FAULT
try() {
    KEEL_FAULT=
    "$@" --timeout 600 >good 2>&1
    wanted=$?
    for n in 1 2 3 4 5 6 8 10; do
        KEEL_FAULT=file:$n:hang "$@" --timeout 1 >out 2>err
        code=$?
        if [ $code -eq 3 ]; then
            "$python" -c '
import re, sys
text = open("err").read()
if not re.fullmatch(r"keel: (bundle|probe): (the config file|\S+) did not answer within 1 s; .* --timeout\n", text):
    print(sys.argv[1], text)' "$n"
        elif [ $code -ne $wanted ] || ! cmp -s out good; then
            echo "$* with $n: exit $code" && cat err
        fi
    done
    echo "tried: $*"
}
try keel bundle --fast --json --plugin ./plugin.so --python venv/bin/python3
exit 0
