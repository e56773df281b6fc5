# Listing, checking and emptying the store.
export KEEL_CACHE_DIR=$HOME/cache
key=acf9bb149d15061f83c799e679c7917955226ca0ac44ae05155e4a89c67b399d
keel cache path
keel cache path --json
keel cache ls; echo "exit $?"
keel cache ls --json
keel cache stat
keel cache verify; echo "exit $?"
keel cache prune
keel cache clear
mkdir -p cache/entries/ac
cp "$samples/entries/v1-raw.keel" cache/entries/ac/$key.keel
keel cache ls
keel cache ls --json | python3 -c '
import json, sys
for entry in json.load(sys.stdin):
    print(entry["key"], entry["name"], entry["payload_bytes"], entry["compile_seconds"], entry["created"], entry["components"])'
keel cache stat --json
keel cache verify; echo "exit $?"
printf x | dd of=cache/entries/ac/$key.keel bs=1 seek=400 conv=notrunc 2>dd
keel cache verify; echo "exit $?"
keel cache verify --json; echo "exit $?"
keel cache prune --cache-limit 1 --json
cp "$samples/entries/v1-zstd.keel" cache/entries/ac/$key.keel
keel cache clear
keel cache stat --json
# The one that was used last comes first.
for digit in 3 1 6 2 5 4; do
    cp "$samples/entries/v1-raw.keel" cache/entries/ac/${key%d}$digit.keel
    touch -d 2026-01-0${digit}T00:00:00Z cache/entries/ac/${key%d}$digit.keel
done
keel cache ls
keel cache clear
# What cannot be listed is not passed over in silence.
cp "$samples/entries/v1-raw.keel" cache/entries/ac/$key.keel
for digit in 1 2; do
    echo "no entry" >cache/entries/ac/${key%d}$digit.keel
done
keel cache ls; echo "exit $?"
rm cache/entries/ac/${key%d}1.keel
keel cache ls --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)))'
keel cache clear
touch file
KEEL_CACHE_DIR=file keel cache ls; echo "exit $?"
KEEL_CACHE_DIR=file keel cache stat; echo "exit $?"
