# The page of a cause, wherever Keel is installed; all of them with a sentence each.
keel explain
keel explain shape | head -3
keel explain counter | grep -c '^## '
# Each word of the list has a page.
keel explain --json | python3 -c '
import json, subprocess, sys
for cause in json.load(sys.stdin):
    page = subprocess.run(["keel", "explain", cause["word"]], stdout=subprocess.PIPE, text=True).stdout
    if not page.startswith("# `" + cause["word"] + "`: " + cause["sentence"]): print(cause)'
keel explain --json retrace | python3 -c '
import json, sys
(cause,) = json.load(sys.stdin)
print(cause["word"], cause["kind"], cause["question"], len(cause["advice"]), cause["page"].splitlines()[0])'
keel explain shpae; echo "exit $?"
keel explain retraces; echo "exit $?"
keel explain nothing-like-it; echo "exit $?"
keel explain ''; echo "exit $?"
keel explain shape size 2>/dev/null; echo "exit $?"
cp "$(command -v keel)" elsewhere && ./elsewhere explain shape | cmp - <(keel explain shape) && echo "anywhere"
