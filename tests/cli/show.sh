# Programs from files, and those that a run has kept.
keel show "$samples/mlir/donate.mlir" | head -3
keel show --json "$samples/hlo/where.hlo" | python3 -c '
import json, sys
program = json.load(sys.stdin)
print(program["format"], len(program["functions"]))'
mkdir -p runs/programs
digest=39fc14138d21e26aa32d98a9f97ac6d535f8ff051620da3250ea91e0147662df
cp "$samples/mlir/donate.mlir" runs/programs/$digest.mlir.zst
export KEEL_RUN_DIR=runs
keel show 39fc14 | head -1
keel show 39fc15; echo "exit $?"
echo 'module {}' >text
keel show text; echo "exit $?"
: >empty
keel show empty; echo "exit $?"
printf '\n  // a comment\nmodule @jit_f {}\n' >commented
keel show commented; echo "exit $?"
keel show --json - <text; echo "exit $?"
keel show - <"$samples/mlir/donate.mlir" | head -1
cat "$samples/hlo/where.hlo" | keel show - | head -1
keel show - </dev/null; echo "exit $?"
printf '\x28\xb5\x2f\xfd' | keel show -; echo "exit $?"
head -c 300 "$samples/mlir/donate.mlir" >torn
keel show torn; echo "exit $?"
keel show missing.mlir; echo "exit $?"
keel show ./missing.mlir; echo "exit $?"
keel show .; echo "exit $?"
