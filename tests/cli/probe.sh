# What is installed and whether it works, with a plugin that fails on demand.
python=$(command -v python3)
plugin=$(dirname "$(command -v keel)")/../lib/keel_test_plugin.so
# A Python without packages, wherever the tests run.
mkdir bin && cp /bin/true bin/python3
export PATH=$HOME/bin:$PATH
export TEST_PLUGIN="runs memory"
keel probe "$plugin"; echo "exit $?"
keel probe --plugin "$plugin" --fast; echo "exit $?"
keel probe --json "$plugin" >one.json; echo "exit $?"
"$python" -c '
import json
probe = json.load(open("one.json"))
for name, value in probe.items():
    if name == "bundle":
        print("key", {component: len(digest) for component, digest in value["key"].items()})
        value = sorted(value)
    elif name == "steps":
        value = {step: {**outcome, "seconds": outcome["seconds"] < 60} for step, outcome in value.items()}
    print(name, json.dumps(value))'
# A failure is reported with its step.
for words in no_client compile_aborts compile_fails wrong_numbers no_serialize serialize_exits \
    load_fails reloads_wrong major=9; do
    echo "== $words"
    TEST_PLUGIN="runs memory $words" keel probe "$plugin" | sed -n '1p; /FAILED\|DIED\|stderr/p; /^findings/,$p'
    TEST_PLUGIN="runs memory $words" keel probe "$plugin" >/dev/null; echo "exit $?"
done
echo "== client_hangs"
TEST_PLUGIN=client_hangs keel probe --timeout 5 "$plugin" | sed -n '1p; /HUNG/p; /^findings/,$p'
# Of Keel's own library, the plugin that it wraps is looked at; neither probe nor bundle is a run.
library=$(dirname "$plugin")/libkeel_pjrt.so
KEEL_PLUGIN=$plugin keel probe "$library" | sed -n '1p; /^  \(path\|client\) /p'
KEEL_PLUGIN=$plugin keel bundle --plugin "$library" | grep '^  path '
KEEL_PLUGIN=$library keel probe | sed -n '1p; /^findings/,$p'
KEEL_PLUGIN=$library keel bundle; echo "exit $?"
KEEL_PLUGIN=$HOME/none.so keel probe "$library" | sed -n '1p; /^findings/,$p'
keel runs; ls .local/state/keel/runs 2>&1 | sed 's/.*: No/No/'
# Would an entry fit elsewhere?
differs() {
    "$@" keel probe --json "$plugin" >two.json
    keel bundle diff one.json two.json; echo "exit $?"
}
differs env
differs env XLA_FLAGS=--xla_cpu_enable_fast_math=true
differs env JAX_ENABLE_X64=1 JAX_PLATFORMS=x
differs env TEST_PLUGIN="runs memory load_fails"
differs env KEEL_MODE=readonly
keel bundle diff --json one.json two.json | "$python" -c '
import json, sys
print(json.load(sys.stdin)["would_hit"])'
keel probe --fast --json "$plugin" >two.json
keel bundle diff one.json two.json; echo "exit $?"
# The settings and the environment have their say.
findings() {
    "$@" | sed -n '1p; /^findings/,$p'
}
KEEL_MODE=off findings keel probe "$plugin"
KEEL_CACHE_DIR=/proc/keel findings keel probe "$plugin"
KEEL_CACHE_DIR=gs://bucket/keel keel probe "$plugin"; echo "exit $?"
PJRT_DEVICE=CPU JAX_PLATFORMS=cpu XLA_USE_BF16=1 findings keel probe "$plugin"
# A plugin for TPUs where there is none is only loaded. (No machine that runs these tests has one.)
cp "$plugin" libtpu.so
keel probe ./libtpu.so | sed -n '1p; /^steps/,/^$/p; /^findings/,$p'
# A plugin that is none.
keel probe "$HOME/none.so"; echo "exit $?"
findings keel probe gpu
findings keel probe one.json
keel probe --timeout 0; echo "exit $?"
keel probe --timeout soon; echo "exit $?"
keel probe one two; echo "exit $?"
# A run is not held up by a plugin that cannot be looked at, and says so.
TEST_PLUGIN=load_exits keel run --plugin "$plugin" -- echo ran; echo "exit $?"
# A version manager's Python is asked for the one that it starts; there are no packages beside it.
mkdir -p venv/bin shims venv/lib/python3.12/site-packages/jax-0.13.1.dist-info
cp /bin/true venv/bin/python && echo 'version = 3.12.4' >venv/pyvenv.cfg
printf '#!/bin/sh\necho %s/venv/bin/python\n' "$PWD" >shims/python3 && chmod +x shims/python3
PATH=$PWD/shims:$PATH VIRTUAL_ENV= keel probe --fast "$plugin" --json | "$python" -c '
import json, sys
probe = json.load(sys.stdin)
print(probe["bundle"]["clients"], [finding["label"] for finding in probe["findings"]])'
