# A target is described as a file has it, and a file that says the same is the same target.
keel rehearse --describe cpu:4/2 | tee cpu.json
keel rehearse --describe cpu.json | cmp - cpu.json && echo same
keel rehearse --describe v6e:2x4; echo "exit $?"
keel rehearse --describe h200:16 | sed -n '/"processes"/p; /"memory/p; /"topology": "/p'
# A target that is not a target is one line, and nothing is run.
for target in nope h200:0 h200:9 h200:8/3 h200:2x4 v6e:8 v6e:2x4/3 cpu:2x2 nothing.json ''; do
    keel rehearse --on "$target" -- echo ran; echo "exit $?"
done
# A description has each field once, and no other.
edit() {
    sed "$1" cpu.json >edited.json
    keel rehearse --on edited.json -- echo ran; echo "exit $?"
}
edit '/"platform"/d'
edit 's/"cpu",/"rocm",/'
edit 's/"devices": 4/"devices": 5/'
edit 's/"devices": 4/"devices": "4"/'
edit 's/"build"/"bulid"/'
edit 's/"target": 1/"target": 2/'
edit '2s/.*//'
edit '1d'
echo '{"probe": "dead"}' >edited.json
keel rehearse --on edited.json -- echo ran; echo "exit $?"
# So are other mistakes.
keel rehearse -- echo ran; echo "exit $?"
keel rehearse --on cpu:2; echo "exit $?"
keel rehearse --on cpu:2 --compile some -- echo ran; echo "exit $?"
keel rehearse --on cpu:2 --values 7 -- echo ran; echo "exit $?"
KEEL_MODE=off keel rehearse --on cpu:2 -- echo ran; echo "exit $?"
keel aot latest; echo "exit $?"
keel aot --on cpu:2; echo "exit $?"
keel aot --on nope latest; echo "exit $?"
# What could not be stored is not compiled.
plugin=$(dirname "$(command -v keel)")/../lib/keel_test_plugin.so
for mode in off readonly; do
    KEEL_MODE=$mode keel aot --on cpu:2 --plugin "$plugin" "$plugin"; echo "exit $?"
done
touch file
keel aot --on cpu:2 --plugin "$plugin" --cache-dir file "$plugin"; echo "exit $?"
keel aot --on cpu:2 --plugin "$plugin" --cache-dir /proc/none/cache "$plugin"; echo "exit $?"
mkdir open && chmod 777 open
keel aot --on cpu:2 --plugin "$plugin" --cache-dir open "$plugin"; echo "exit $?"
cp "$plugin" libkeel_pjrt.so
keel aot --on cpu:2 --plugin ./libkeel_pjrt.so "$plugin"; echo "exit $?"
# The target's compiler is in the command's Python, or nowhere.
mkdir -p venv/bin
printf '#!/bin/sh\necho ran\n' >venv/bin/python && chmod +x venv/bin/python
keel rehearse --on h200:8 -- venv/bin/python; echo "exit $?"
keel rehearse --on v6e:2x4 -- venv/bin/python; echo "exit $?"
# A target that the compiler refuses is an error before the command starts.
TEST_PLUGIN=runs keel rehearse --on h200:8 --plugin "$plugin" -- echo ran; echo "exit $?"
TEST_PLUGIN=runs keel aot --on h200:8 --plugin "$plugin" "$plugin"; echo "exit $?"
# A plugin is initialized before it makes a client. This one can do no more.
TEST_PLUGIN="platform=cpu no_client=first" keel aot --on cpu:2 --plugin "$plugin" "$plugin"; echo "exit $?"
# Keel warns of many processes on few processors, and names a target that takes less.
one=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
taskset -c "$one" keel rehearse --on cpu:8/8 -- true; echo "exit $?"
taskset -c "$one" keel rehearse --on cpu:8/4 -- true; echo "exit $?"
