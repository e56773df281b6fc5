# The figures of a run, by id, by its beginning, or of the newest.
export KEEL_RUN_DIR=$runs
keel stats 20260101
echo
keel stats
keel stats --json 20260101-120000-0000aaaa | python3 -c '
import json, sys
stats = json.load(sys.stdin)
for name in ("id programs compiles compile_seconds loads load_seconds memory_hits misses uncacheable "
             "executes steps settled_at_step recompile_count recompile_seconds").split():
    print(name, stats[name])
print([(r["step"], r["site"]["shown"], r["name"]) for r in stats["recompiles"]])'
keel stats 2026; echo "exit $?"
keel stats 1999; echo "exit $?"
keel stats --run-dir nowhere; echo "exit $?"
