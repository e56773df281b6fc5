# Keys that sign what is shared, and those that are trusted.
one=ci:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
keel cache keys
keel cache keys --json
keel cache trust $one; echo "exit $?"
keel cache trust --json ci:${one#ci:0}0
keel cache trust ${one%f}; echo "exit $?"
keel cache trust; echo "exit $?"
keel cache keys
keel cache untrust cd; echo "exit $?"
keel cache untrust ci; echo "exit $?"
keel cache keygen 'a b'; echo "exit $?"
keel cache keygen laptop | cut -c 1-7
keel cache keygen laptop; echo "exit $?"
keel cache keys --json | python3 -c '
import json, sys
keys = json.load(sys.stdin)
print(keys["own"]["name"], len(keys["own"]["key"]), keys["trusted"])'
stat -c %a .config/keel/keys .config/keel/keys/signing
# What others can read is no secret, and what they can write is no list of whom to trust.
chmod 644 .config/keel/keys/signing
keel cache keys; echo "exit $?"
chmod 600 .config/keel/keys/signing
keel cache trust $one && chmod 666 .config/keel/keys/trusted
keel cache keys; echo "exit $?"
# Remotes.
keel cache remotes; echo "exit $?"
KEEL_REMOTES=gs://bucket keel cache remotes; echo "exit $?"
KEEL_REMOTES='https://me:secret@host/keel' keel cache remotes; echo "exit $?"
export KEEL_CACHE_DIR=$HOME/cache KEEL_REMOTES="file://$HOME/share file://$HOME/away|trusted"
mkdir share
keel cache remotes; echo "exit $?"
keel cache push; echo "exit $?"
keel cache remotes --json | python3 -c '
import json, os, sys
answer = json.load(sys.stdin)
print([remote["works"] for remote in answer["remotes"]], len(answer["helper"]["remotes"]))
os.kill(answer["helper"]["pid"], 15)'
