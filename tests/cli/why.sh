# Why programs were compiled again: by id, by its beginning, or in the newest run.
cp -r "$runs/../why_runs" copy
export KEEL_RUN_DIR=copy
keel why 20260201
echo
keel why 20260202
echo
keel why 20260203-120000-0000cccc
echo
keel why
echo
keel why --all 20260201 | head -32
keel why --json 20260202 | python3 -c '
import json, sys
for why in json.load(sys.stdin):
    print(why["step"], why["what"], why["seconds"], why["kind"], why["file"], why["line"], why["old"],
          why["new"], why["pattern"], len(why["causes"]))'
keel why --json; keel why --json --all | python3 -c '
import json, sys
print([why["kind"] for why in json.load(sys.stdin)])'
# A run whose explanations are not in the journal says so.
KEEL_RUN_DIR=$runs keel why 20260101; echo "exit $?"
# Bold on a terminal alone, and not there either where NO_COLOR is set.
shown() { TERM=xterm script -qec "keel why 20260203" /dev/null | grep -c "$(printf '\033')"; }
keel why 20260203 | grep -c "$(printf '\033')"
shown; NO_COLOR=1 shown
keel why 2026; echo "exit $?"
keel why 1999; echo "exit $?"
keel why --run-dir nowhere; echo "exit $?"
sed -i '2s/.*/not json/' copy/20260204-120000-0000dddd/journal.ndjson
keel why; echo "exit $?"
