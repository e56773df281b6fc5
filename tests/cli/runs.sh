# Runs are listed oldest first, each with its id.
KEEL_RUN_DIR=$runs keel runs
KEEL_RUN_DIR=$runs keel runs --json | python3 -c '
import json, sys
for run in json.load(sys.stdin):
    print(run["id"], run["argv"], run["compiles"], run["loads"], run["steps"], run["unfinished"])'
keel runs; echo "exit $?"
keel runs --json; echo "exit $?"
touch file
keel runs --run-dir file; echo "exit $?"
