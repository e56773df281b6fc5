# A run as one file: which commands take it, and what they say of a file that is not one.
export KEEL_RUN_DIR=$runs TMPDIR=$PWD/temporary
mkdir temporary
keel pack 20260101 -o first.keelpack; echo "exit $?"
keel pack 20260101 -o again.keelpack 2>/dev/null; cmp first.keelpack again.keelpack && echo "the same file"
tar --zstd -tf first.keelpack
# Each command says of the file what it says of the run.
for command in stats "stats --json" "stats --metrics" why memory; do
    # shellcheck disable=SC2086  # two words
    keel $command 20260101 >of_run; KEEL_RUN_DIR=none keel $command first.keelpack >of_file
    sed 's,[^" ]*/journal.ndjson,J,g; s,"journal_bytes": [0-9]*,,' of_run >a
    sed 's,[^" ]*/journal.ndjson,J,g; s,"journal_bytes": [0-9]*,,' of_file >b
    cmp a b && echo "$command: the same"
done
KEEL_RUN_DIR=none keel report first.keelpack -o page.html; echo "exit $?"
# A file and a run, two files of one run, a file of a file.
keel diff first.keelpack 20260102 >/dev/null; echo "exit $?"
keel diff first.keelpack again.keelpack; echo "exit $?"
KEEL_RUN_DIR=none keel pack first.keelpack -o third.keelpack 2>/dev/null && cmp first.keelpack third.keelpack && echo "the same file"
# Without names.
keel pack 20260101 -o bare.keelpack --no-names; echo "exit $?"
KEEL_RUN_DIR=none keel stats bare.keelpack | sed 1d | diff - <(keel stats 20260101 | sed 1d) | grep -c '^[<>]'
tar --zstd -xf bare.keelpack && grep -c -e train -e jit_ 2026*/journal.ndjson
# What is no such file.
keel pack 20260101; echo "exit $?"
keel pack nothing -o x.keelpack; echo "exit $?"
keel pack 20260101 -o nowhere/x.keelpack; echo "exit $?"
head -c 300 first.keelpack >short.keelpack
keel stats short.keelpack; echo "exit $?"
mv short.keelpack short && keel stats short; echo "exit $?"
keel why /dev/null; echo "exit $?"
ln -s /etc/hostname link && zstd -q <first.keelpack >twice.keelpack
keel why twice.keelpack; echo "exit $?"
mkdir evil && cd evil && printf '{"event":"pack","form":1,"run":"r"}\n' >keel-pack.json && mkdir r && echo x >../outside &&
    tar --zstd --format=ustar -cf ../evil.keelpack keel-pack.json ../outside 2>/dev/null; cd ..
keel why evil.keelpack; echo "exit $?"
cd evil && ln -s /etc/passwd r/journal.ndjson && tar --zstd --format=ustar -cf ../link.keelpack keel-pack.json r/journal.ndjson; cd ..
keel why link.keelpack; echo "exit $?"
TMPDIR=nowhere keel why first.keelpack; echo "exit $?"
echo "left behind: $(ls temporary | wc -l)"
