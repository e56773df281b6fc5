# Runs are listed oldest first, each with its id.
cp -r "$runs" here
KEEL_RUN_DIR=here keel runs
KEEL_RUN_DIR=here keel runs --json | python3 -c '
import json, sys
for run in json.load(sys.stdin):
    print(run["id"], run["argv"], run["compiles"], run["loads"], run["steps"], run["unfinished"])'
keel runs; echo "exit $?"
keel runs --json; echo "exit $?"
touch file
keel runs --run-dir file; echo "exit $?"
# Listing them again reads their figures, not their journals, unless these have changed.
KEEL_RUN_DIR=here keel runs >before
for journal in here/*/journal.ndjson; do
    touch -r "$journal" mark; sed -i 's/./x/g' "$journal"; touch -r mark "$journal"
done
KEEL_RUN_DIR=here keel runs | cmp - before && echo "the same"
touch here/*/journal.ndjson
KEEL_RUN_DIR=here keel runs 2>/dev/null | wc -l; echo "exit ${PIPESTATUS[0]}"
