# Why one run is not another: what moved for all programs, and which programs changed.
export KEEL_RUN_DIR=$HOME/runs
mkdir -p "$KEEL_RUN_DIR/programs"

# Keeps a program as a run does, and gives its digest.
keep() {
  digest=$(b2sum -l 256 "$1" | cut -d ' ' -f 1)
  zstd -q -f "$1" -o "$KEEL_RUN_DIR/programs/$digest.mlir.zst"
  echo "$digest"
}

# Begins a journal: run, XLA_FLAGS, digest of the plugin.
start() {
  mkdir -p "$KEEL_RUN_DIR/$1"
  journal=$KEEL_RUN_DIR/$1/journal.ndjson
  now=1767268800
  build=$(printf '%d%063d' "$3" 0)
  flags=$(printf '%s' "$2" | b2sum -l 256 | cut -d ' ' -f 1)
  cat >"$journal" <<END
{"event":"start","t":$now,"pid":1,"keel":"0.1.0","argv":["python","train.py"],"cwd":"/home/ada","components":{"XLA_FLAGS":"$flags","plugin build":"$build"},"values":{"XLA_FLAGS":"$2","plugin build":"$build"}}
END
}

# A compile: key, module name, digest, options.
compile() {
  now=$((now + 1))
  cat >>"$journal" <<END
{"event":"miss","t":$now,"pid":1,"program":"$3","name":"$2","key":"$1","reason":"absent","components":{"compile options":"$(printf '%s' "$4" | b2sum -l 256 | cut -d ' ' -f 1)"},"values":{"compile options":"$4"}}
{"event":"compile","t":$now,"pid":1,"program":"$3","name":"$2","key":"$1","seconds":1,"ops":50,"bytes":2000,"format":"mlir","recompile":false,"cacheable":true,"site":{"file":"/home/ada/train.py","line":18,"function":"train"}}
END
}

cd "$samples/diff" || exit
step=$(keep step.mlir) moved=$(keep step_moved.mlir) batch=$(keep step_batch.mlir)
constant=$(keep step_constant.mlir) linalg=$(keep ../mlir/linalg.mlir) dtypes=$(keep ../mlir/dtypes.mlir)
cd "$HOME" || exit
gone=$(printf '%064d' 7)

start 20260101-000000-aa "" 1
compile k1 jit_step "$step" ""
compile k2 jit_linalg "$linalg" ""
compile k3 jit_gone "$gone" ""
start 20260102-000000-bb "" 1
compile k1 jit_step "$step" ""
compile k2 jit_linalg "$linalg" ""
compile k3 jit_gone "$gone" ""
start 20260103-000000-cc "" 1
compile k4 jit_renamed "$constant" ""
compile k2 jit_linalg "$linalg" ""
compile k5 jit_dtypes "$dtypes" ""
start 20260104-000000-dd "xla_cpu_enable_fast_math=true" 2
compile k6 jit_step "$moved" "profile_version=0"
compile k7 jit_linalg "$linalg" ""
compile k8 jit_step "$batch" ""
start 20260105-000000-ee "xla_cpu_enable_fast_math=true" 2
compile k9 jit_step "$moved" "profile_version=1"
compile k7 jit_linalg "$linalg" ""

keel diff 20260101 20260102; echo "exit $?"
keel diff 20260101 20260103; echo "exit $?"
keel diff 20260101 20260104; echo "exit $?"
keel diff 20260103 20260104; echo "exit $?"
keel diff 20260104 20260105; echo "exit $?"
keel diff --json 20260101 20260104 | python3 -c '
import json, sys
answer = json.load(sys.stdin)
print(answer["same"], answer["a"]["run"], answer["b"]["programs"], answer["shared"])
print([(moved["kind"], moved["subject"]) for moved in answer["moved"]])
print([(pair["a"]["name"], pair["same"], pair["unrelated"]) for pair in answer["pairs"]])
print([only["name"] for only in answer["only_a"]], [only["name"] for only in answer["only_b"]])'
keel diff "$step" "${moved:0:12}"; echo "exit $?"
keel diff "$step" jit_linalg; echo "exit $?"
keel diff latest latest; echo "exit $?"
echo "-- bad input"
keel diff 20260101 "$step"; echo "exit $?"
keel diff 2026 20260101; echo "exit $?"
keel diff 20260101 1999; echo "exit $?"
keel diff jit_none jit_step; echo "exit $?"
touch file
keel diff --run-dir file 20260101 20260102; echo "exit $?"
