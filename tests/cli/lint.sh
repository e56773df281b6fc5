# What model code would recompile, without running it.
cat >model.py <<'END'
import jax

@jax.jit
def step(x):
    if x.sum() > 0:
        x = -x
    return x

for i in range(3):
    print(float(step(i)))
END
keel lint model.py; echo "exit $?"
keel lint --rule host-read model.py; echo "exit $?"
keel lint --ignore host-read,branch-on-value model.py; echo "exit $?"
keel lint - <model.py | head -1
printf 'import jax\nf = jax.jit(lambda x: 1 if x > 0 else 2)  # keel: ignore[branch-on-value]\n' | keel lint -; echo "exit $?"

# For programs.
keel lint --json --sarif found.sarif --junit found.xml model.py | python3 -c '
import json, sys
import xml.etree.ElementTree as xml
answer = json.load(sys.stdin)
print(answer["files"], [(f["file"], f["line"], f["column"], f["rule"], f["page"]) for f in answer["findings"]])
(run,) = json.load(open("found.sarif"))["runs"]
for result in run["results"]:
    place = result["locations"][0]["physicalLocation"]
    rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"]
    print(result["ruleId"] == rule, place["artifactLocation"]["uri"], place["region"])
    print(result["message"]["text"])
(suite,) = xml.parse("found.xml").getroot()
print(suite.attrib)
for case in suite:
    print(case.attrib, [failure.get("type") for failure in case])'

# Folders: hidden ones, environments and site-packages are left out, unless they are named.
mkdir -p tree/sub tree/.hidden tree/venv tree/site-packages empty
for folder in sub .hidden venv site-packages; do cp model.py "tree/$folder/a.py"; done
touch tree/venv/pyvenv.cfg tree/notes.txt
ln -s .. tree/sub/up
keel lint --json tree | python3 -c '
import json, sys
print(sorted({f["file"] for f in json.load(sys.stdin)["findings"]}))'
keel lint tree/site-packages | tail -1
keel lint empty; echo "exit $?"

# PyTorch code counts if something here runs on XLA, or if --xla says so.
cat >net.py <<'END'
import torch

class Net(torch.nn.Module):
    def forward(self, x):
        return x.sum().item()
END
printf 'import torch_xla\n' >train.py
keel lint net.py; echo "exit $?"
keel lint --xla net.py; echo "exit $?"
keel lint net.py train.py | tail -1

# What cannot be read; what does not parse is skipped, and the rest is checked.
keel lint nothing.py model.py | tail -1; echo "exit ${PIPESTATUS[0]}"
keel lint nothing.py; echo "exit $?"
printf 'x = = 1\n' >broken.py
keel lint broken.py; echo "exit $?"
cat broken.py model.py | keel lint - | tail -1
printf 'a\0b' >binary.py
keel lint binary.py; echo "exit $?"
keel lint --sarif nowhere/found.sarif model.py; echo "exit $?"
keel lint --rule host-raed model.py; echo "exit $?"
keel lint; echo "exit $?"

# Each rule's page is there.
keel lint --list-rules | cut -d' ' -f1
keel lint --list-rules --json | python3 -c '
import json, subprocess, sys
for rule in json.load(sys.stdin):
    for page in (rule["page_jax"], rule["page_torch"]):
        if subprocess.run(["keel", "explain", page], stdout=subprocess.DEVNULL).returncode: print(rule)'
