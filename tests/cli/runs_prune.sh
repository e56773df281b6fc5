# Old runs go, with the programs that only they named; what stays is said.
cp -r "$runs" here
export KEEL_RUN_DIR=here
find here -type f -exec touch -d '40 days ago' {} +
touch -d '2 days ago' here/20260102-120000-0000bbbb/journal.ndjson
mkdir here/programs
digest=$(printf '%064d' 7)
cp "$samples/diff/step.mlir" here/programs/$digest.mlir.zst
touch -d '40 days ago' here/programs/$digest.mlir.zst
keel runs prune --dry-run; echo "exit $?"
keel runs prune --older 30d --dry-run; echo "exit $?"
keel runs prune --keep 1 --dry-run --json | python3 -c '
import json, sys
answer = json.load(sys.stdin)
print(answer["dry_run"], answer["runs"], [run["id"] for run in answer["removed"]],
      answer["run_bytes"] == sum(run["bytes"] for run in answer["removed"]) > 0,
      answer["files"], answer["file_bytes"] > 0, answer["going_on"], answer["failed"])'
ls here/20260101-120000-0000aaaa here/programs
echo mine >here/20260101-120000-0000aaaa/notes.txt
keel runs prune --older 30d; echo "exit $?"
rm here/20260101-120000-0000aaaa/notes.txt
keel runs prune --older 30d; echo "exit $?"
ls here here/programs
keel runs prune --older 1d; echo "exit $?" # nobody saw it end, so it may go on elsewhere
keel runs prune --keep-runs 0; echo "exit $?"
keel runs prune --older; echo "exit $?"
keel runs prune --older 30; echo "exit $?"
keel runs prune --keep many; echo "exit $?"
keel runs prune now; echo "exit $?"
keel runs --keep-runs 1d 2>/dev/null; echo "exit $?"
keel runs prune --run-dir nowhere; echo "exit $?"
keel help runs prune | head -1
