# Whatever allocation or file operation fails, a command answers or says in one line why not. Only a
# build with faults fails any; elsewhere every command just answers.
cp -r "$runs" runs_here
mkdir -p cache/entries/ac
cp "$samples/entries/v1-raw.keel" \
    cache/entries/ac/acf9bb149d15061f83c799e679c7917955226ca0ac44ae05155e4a89c67b399d.keel
export KEEL_RUN_DIR=runs_here KEEL_CACHE_DIR=cache
digest=1111aaaa
cp "$samples/diff/step.mlir" program.mlir
cp "$samples/diff/step_batch.mlir" changed.mlir
mkdir -p runs_here/programs
cp "$samples/mlir/dtypes.mlir" runs_here/programs/$digest.mlir.zst
: >plugin.so
echo '{"bundle": 1, "flags": {"XLA_FLAGS a": "1"}, "packages": {"jax": "1"}}' >bundle.json

# Fails each operation of a kind in turn until three in a row change nothing.
try() {
    "$@" >good 2>&1
    wanted=$?
    for kind in alloc file; do
        calm=0
        for n in $(seq 1 400); do
            KEEL_FAULT=$kind:$n "$@" >out 2>err
            code=$?
            if [ $code -gt 3 ]; then
                echo "$* with $kind:$n: exit $code" && cat err
            elif [ $code -ge 2 ] && [ "$(grep -c '^keel: ' err)" -eq 0 ]; then
                echo "$* with $kind:$n: exit $code without a word"
            fi
            if [ $code -eq $wanted ] && cmp -s out good; then calm=$((calm + 1)); else calm=0; fi
            [ $calm -lt 3 ] || break
        done
    done
    echo "tried: $*"
}

try keel config
try keel fixes --json
try keel runs --json
try keel stats --json 20260101
try keel show --json $digest
try keel key $digest $digest
try keel diff 20260101 20260102
try keel diff program.mlir changed.mlir
try keel bundle --fast --json --plugin ./plugin.so
try keel bundle diff bundle.json bundle.json
try keel cache ls
try keel cache verify
try keel cache stat
try keel run --quiet -- true

prune() {
    rm -rf pruned
    cp -r runs_here pruned
    keel runs prune --keep 1 --run-dir pruned
}
try prune
