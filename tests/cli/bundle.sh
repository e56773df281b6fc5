# What an installation is, of a made-up one.
export KEEL_RUN_DIR=runs KEEL_CACHE_DIR=cache
packages=venv/lib/python3.12/site-packages
mkdir -p venv/bin $packages
printf '#!/bin/sh\necho ran\n' >venv/bin/python && chmod +x venv/bin/python
printf 'home = /opt/python/bin\nversion = 3.12.4\ninclude-system-site-packages = false\n' \
    >venv/pyvenv.cfg
package() { # folder, METADATA
    mkdir -p "$packages/$1" && printf "$2" >"$packages/$1/METADATA"
}
package jax-0.12.0.dist-info 'Name: jax\nVersion: 0.12.0\n'
package Typing_Extensions-4.16.0.dist-info ''
package lost.dist-info ''
package '~umpy-2.0.dist-info' ''
package "$(printf 'odd\377-1.dist-info')" ''
mkdir "$packages/old-3.0-py3.12.egg-info" "$packages/jaxlib-0.12.0.dist-info"

# The machine's own part is left out here.
: >plugin.so
keel bundle --fast --plugin ./plugin.so --python venv/bin/python >text; echo "exit $?"
sed -n '/^plugin/,/^cpu/p; /^clients/,/^system/p' text
bundle() {
    keel bundle --fast --json --plugin ./plugin.so --python venv/bin/python
}
XLA_FLAGS='--xla_b=2 --xla_a=true --xla_dump_to=x' TPU_LOG_DIR=/x JAX_API_TOKEN=hidden \
    JAX_PROXY=http://ada:hidden@host/ bundle >a.json
python3 -c 'import json; bundle = json.load(open("a.json"))
for name in "plugin", "flags", "clients", "interpreter", "packages", "environment":
    print(name, json.dumps(bundle[name], indent=1))'

# Two of them: what moves keys first.
bundle >b.json
keel bundle diff b.json b.json; echo "exit $?"
echo changed >plugin.so
rm -r $packages/lost.dist-info $packages/jax-0.12.0.dist-info
package jax-0.12.1.dist-info ''
package numpy-2.0.dist-info ''
XLA_FLAGS='--xla_b=3' bundle >c.json
keel bundle diff a.json c.json; echo "exit $?"
keel bundle diff --json a.json c.json | python3 -m json.tool | grep -c weight

# What is not a bundle, or none that can be read.
echo '{"bundle": 1}' >empty.json
keel bundle diff a.json empty.json; echo "exit $?"
echo '{"bundle": 9}' >later.json
keel bundle diff a.json later.json; echo "exit $?"
echo '{"bundle": 1, "plugin": [], "cpu": {"cores": 2}, "flags": {"a\u0000": "b"}, "x": 1' >cut.json
keel bundle diff a.json cut.json; echo "exit $?"
keel bundle diff a.json nothing.json; echo "exit $?"
keel bundle diff a.json; echo "exit $?"
keel bundle diff a.json latest; echo "exit $?"
mkdir -p runs/one
printf '{"event":"start"}\n{"event":"bundle","bundle":%s}\n' "$(cat a.json)" >runs/one/journal.ndjson
keel bundle diff a.json one; echo "exit $?"
keel bundle diff runs/one/journal.ndjson latest; echo "exit $?"
printf '{"event":"start"}\n' >runs/one/journal.ndjson
keel bundle diff a.json one; echo "exit $?"
keel bundle --python nowhere/python; echo "exit $?"

# What is called otherwise is asked which Python it is, and what answers nothing is none.
keel bundle --python /bin/ls; echo "exit $?"
keel bundle --fast --json --python ./plugin.so; echo "exit $?"
printf '#!/bin/sh\nexit 1\n' >python && chmod +x python
keel bundle --python ./python; echo "exit $?"
printf '#!/bin/sh\nexec python3 "$@"\n' >chosen && chmod +x chosen
keel bundle --fast --json --plugin ./plugin.so --python ./chosen | python3 -c '
import json, sys
print(json.load(sys.stdin)["interpreter"]["path"] == sys.executable)'
ln -s python3.12 venv/bin/other && : >venv/bin/python3.12
(cd / && keel bundle --fast --json --plugin "$HOME/plugin.so" --python "$HOME/venv/bin/other") |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["interpreter"]["version"])'
keel bundle --plugin ./nothing.so; echo "exit $?"
