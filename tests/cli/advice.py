"""Each advice has a pair that follows it to the letter: an accident and the same mended, or a
function of the test that runs several processes. In C that is tests/tensor/why.py."""

import ast
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from pairs import Pairs  # noqa: E402
import tables  # noqa: E402


def functions_of_processes(script):
    """Those that take a workspace and the advice."""
    return {node.name for node in ast.parse(script.read_text()).body
            if isinstance(node, ast.FunctionDef)
            and [argument.arg for argument in node.args.args] == ["space", "text"]}


def keys_of(script, name):
    """The keys of a dictionary in the script."""
    for node in ast.parse(script.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return {key.value for key in node.value.keys}
    return set()


def macro_names(macro):
    return {name for name, _ in tables.rows("src/explain/cause.h", macro)}


client, torch = ROOT / "tests" / "client", ROOT / "tests" / "torch"
jax = functions_of_processes(client / "advice.py").union(
    *(Pairs(script).names() for script in client.glob("advice_*.py")))
xla = (functions_of_processes(torch / "advice.py") | keys_of(torch / "advice.py", "NEVER")).union(
    *(Pairs(script).names() for script in torch.glob("advice_*.py")))
in_c = ROOT / "tests" / "tensor" / "why.py"
c, never = keys_of(in_c, "PAIRS"), keys_of(in_c, "NEVER")
texts = {client: tables.advice(client) for client in tables.FRAMEWORKS}
for name in sorted(jax | xla | c | never):
    if name not in tables.advice("jax"):
        print(f"{name}: there is no such advice")
for name in sorted(macro_names("KEEL_CAUSES")):
    if name not in jax:
        print(f"{name}: no pair for JAX")
    if name not in xla and texts["torch"][name] != texts["jax"][name]:
        print(f"{name}: no pair for PyTorch/XLA")
    if (name in c) == (name in never) and texts["c"][name] != texts["jax"][name]:
        print(f"{name}: no pair in C, or one that cannot be")
for name in sorted(macro_names("KEEL_NOTES") | macro_names("KEEL_CASES")):
    if name not in jax | xla | c:
        print(f"{name}: no pair")
print("read" if len(texts["jax"]) > 40 else "unread")
