# A run as a page: where it goes, and what it does not replace.
export KEEL_RUN_DIR=$runs
keel report
head -2 report.html
keel report 20260101 -o first.html
grep -o '<h1><code>.*</code></h1>' first.html
grep -c '<section id=' first.html
keel report -o - 20260101 | cmp - first.html
keel report -o first.html                   # a report may be replaced
grep -c 20260102-120000-0000bbbb first.html
echo "my own" >notes.html
keel report -o notes.html; echo "exit $?"
cat notes.html
: >empty.html
keel report -o empty.html; echo "exit $?"
mkdir folder
keel report -o folder; echo "exit $?"
keel report -o nowhere/report.html; echo "exit $?"
keel report -o /dev/null; echo "exit $?"
keel report 1999; echo "exit $?"
keel report --run-dir empty; echo "exit $?"
keel report 20260101 20260102; echo "exit $?"
ls
