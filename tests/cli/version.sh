keel --version
keel version
keel version --json | python3 -c 'import json, sys; print(sorted(json.load(sys.stdin)))'
