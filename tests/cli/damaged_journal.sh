# Damage is named with file and line, the rest is counted, and the exit code is 2. The unfinished
# last line of a killed process is not damage.
cp -r "$runs" copy
export KEEL_RUN_DIR=copy
journal=copy/20260101-120000-0000aaaa/journal.ndjson
sed -i '3s/.*/not json/' $journal
keel stats 20260101 | grep -E '^  (steps|compiles|programs)'; echo "exit ${PIPESTATUS[0]}"
keel stats --json 20260101 | python3 -c '
import json, sys
print(json.load(sys.stdin)["damaged_lines"])'
keel runs | wc -l
keel report 20260101 -o page.html; echo "exit $?"
grep -c 'The journal is damaged' page.html
echo 'rubbish' >$journal
keel stats 20260101; echo "exit $?"
: >$journal
keel stats 20260101 | head -2; echo "exit ${PIPESTATUS[0]}"
