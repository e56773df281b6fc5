"""CPython's own parser beside Keel's: the trees of Python files must be equal, node by node, with
kinds, fields, places, names and values. Files that CPython refuses, or that are not UTF-8, only must
be read to their end.

Usage: python_source.py PYTREE [--all | FILE...]
Without files: a sample of the standard library and of what is installed; --all: all of both.
"""

import ast
import io
import pathlib
import subprocess
import sys
import sysconfig
import tempfile
import unicodedata
import warnings
from random import Random

from python_texts import REFUSED, TEXTS

SAMPLE = 40     # one file of so many
CHANGED = 2000  # texts with random faults
FIRST_FIELDS = {"IfExp": ["body", "test", "orelse"],
                "FunctionDef": ["decorator_list", "type_params", "args", "returns", "body"],
                "AsyncFunctionDef": ["decorator_list", "type_params", "args", "returns", "body"]}
CONVERSIONS = {ord("s"): "s", ord("r"): "r", ord("a"): "a"}
CONSTANTS = {None: "None", True: "True", False: "False", Ellipsis: "Ellipsis"}


def files():
    folders = [sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")]
    found = sorted({path for folder in folders for path in pathlib.Path(folder).rglob("*.py")})
    return found


def place(node):
    return (node.lineno, node.col_offset)


def arguments(node):
    """Each with its field and its default, as they stand in the text."""
    plain = node.posonlyargs + node.args
    defaults = [None] * (len(plain) - len(node.defaults)) + node.defaults
    for i, (one, default) in enumerate(zip(plain, defaults)):
        yield "posonlyargs" if i < len(node.posonlyargs) else "args", one, default
    if node.vararg:
        yield "vararg", node.vararg, None
    for one, default in zip(node.kwonlyargs, node.kw_defaults):
        yield "kwonlyargs", one, default
    if node.kwarg:
        yield "kwarg", node.kwarg, None


def pairs(field, first, second, others):
    for one, other in zip(first, second):
        if one is not None:
            yield field, one
        yield others, other


def children(node):
    """Pairs of a field and a child, in the order of the text."""
    kind = type(node).__name__
    if kind == "Dict":
        yield from pairs("keys", node.keys, node.values, "values")
    elif kind == "Compare":
        yield "left", node.left
        yield from pairs("ops", node.ops, node.comparators, "comparators")
    elif kind == "Call":
        yield "func", node.func
        inner = [("args", one) for one in node.args] + [("keywords", one) for one in node.keywords]
        yield from sorted(inner, key=lambda pair: place(pair[1]))
    elif kind == "ClassDef":
        yield from (("decorator_list", one) for one in node.decorator_list)
        yield from (("type_params", one) for one in getattr(node, "type_params", []))
        inner = [("bases", one) for one in node.bases] + [("keywords", one) for one in node.keywords]
        yield from sorted(inner, key=lambda pair: place(pair[1]))
        yield from (("body", one) for one in node.body)
    elif kind == "MatchMapping":
        yield from pairs("keys", node.keys, node.patterns, "patterns")
    elif kind == "MatchClass":
        yield "cls", node.cls
        yield from (("patterns", one) for one in node.patterns)
        yield from (("keywords", pair) for pair in zip(node.kwd_attrs, node.kwd_patterns))
    else:
        for field in FIRST_FIELDS.get(kind, node._fields):
            value = getattr(node, field, None)
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, ast.AST) and not isinstance(
                        one, (ast.expr_context, ast.operator, ast.unaryop, ast.boolop)):
                    yield "default" if field == "default_value" else field, one


def normal(name):
    return unicodedata.normalize("NFKC", name)


def constant(value):
    if isinstance(value, str):
        return "str " + value.encode("utf-8", "surrogatepass").hex()
    if isinstance(value, bytes):
        return "bytes " + value.hex()
    if isinstance(value, (bool, type(None), type(...))):
        return CONSTANTS[value]
    if isinstance(value, complex):
        return "number j" + number(value.imag)
    return f"number {'i' if isinstance(value, int) else 'f'}" + number(value)


def number(value):
    try:
        value = float(value)
    except OverflowError:
        value = float("inf")
    return value.hex() if value not in (float("inf"),) else "inf"


def words(node):
    """What a line says behind the place."""
    kind = type(node).__name__
    if kind == "ImportFrom":
        return [node.module or "", str(node.level or 0)]
    if kind == "alias":
        return [normal(node.name)] + ([normal(node.asname)] if node.asname else [])
    if kind in ("Global", "Nonlocal"):
        return [normal(name) for name in node.names]
    if kind == "Constant":
        return [constant(node.value)]
    if kind == "MatchSingleton":
        return [CONSTANTS[node.value]]
    if kind in ("FormattedValue", "Interpolation"):
        return [CONVERSIONS[node.conversion]] if node.conversion != -1 else []
    if kind == "comprehension":
        return ["async"] if node.is_async else []
    out = []
    for field in ("name", "id", "attr", "arg", "rest"):
        value = getattr(node, field, None)
        if isinstance(value, str):
            out.append(normal(value))
    for field in ("op", "ctx"):
        value = getattr(node, field, None)
        if isinstance(value, ast.AST):
            out.append(type(value).__name__)
    return out


def dump(root):
    out = []
    todo = [(0, "", root)]
    while todo:
        depth, field, node = todo.pop()
        if isinstance(node, tuple):  # a keyword of a class pattern
            out.append(f"{depth} {field} keyword {normal(node[0])}")
            todo.append((depth + 1, "pattern", node[1]))
            continue
        kind = type(node).__name__
        if isinstance(node, ast.cmpop):
            out.append(f"{depth} {field} operator {kind}")
            continue
        line = f"{depth} {field} {kind}"
        if hasattr(node, "lineno"):
            line += f" {node.lineno}:{node.col_offset}-{node.end_lineno}:{node.end_col_offset}"
        out.append(" ".join([line, *words(node)]))
        if kind == "arguments":
            inner = [(depth + 1, one[0], one[1:]) for one in arguments(node)]
            for level, role, (one, default) in reversed(inner):
                one.default = default
                todo.append((level, role, one))
        else:
            inner = list(children(node))
            if kind == "arg" and getattr(node, "default", None) is not None:
                inner.append(("default", node.default))
            todo.extend((depth + 1, role, one) for role, one in reversed(inner))
    return out


def is_alike(ours, theirs):
    """A number's digits are written in two ways, a named character is known to one side only, and a
    name may be written in more than one form."""
    if ours == theirs:
        return True
    mine, other = ours.split(" "), theirs.split(" ")
    if len(mine) != len(other):
        return False
    for one, two in zip(mine, other):
        if one == two or one == "?" or normal(one) == two:
            continue
        if one[:1] in "ifj" and one[:1] == two[:1] and one[1:]:
            try:
                if float.fromhex(one[1:]) == float.fromhex(two[1:]):
                    continue
            except (ValueError, OverflowError):
                pass
        return False
    return True


class Reader:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def read(self, path):
        self.process.stdin.write(f"{path}\n".encode())
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            line = line.decode("utf-8", "surrogateescape").rstrip("\n")
            if line == ".":
                return lines
            lines.append(line)
        sys.exit(f"{path}: the reader ended with {self.process.wait()}")


def compare(path, ours, theirs):
    for i, (one, two) in enumerate(zip(ours, theirs)):
        if not is_alike(one.rstrip(" "), two.rstrip(" ")):
            return f"{path}:\n  node {i}\n  ours   {one}\n  theirs {two}"
    if len(ours) != len(theirs):
        rest = (ours + theirs)[-1]
        return f"{path}: {len(ours)} nodes, not {len(theirs)}; the last: {rest}"
    return None


def tree_of(data):
    """None if CPython refuses it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data.decode("utf-8")
            return dump(ast.parse(data))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def changed(text, random):
    """A few characters are lost, doubled, or come from elsewhere."""
    for _ in range(random.randint(1, 3)):
        at = random.randrange(len(text) + 1)
        other = random.randrange(len(text) + 1)
        piece = text[other:other + random.randint(1, 6)]
        text = text[:at] + random.choice([piece, "", "(", ")", "'", '"', ":", "\n", "  ", "{", "}"]) + \
            text[at + random.choice([0, 0, 1, 2]):]
    return text


def made_up(reader, folder):
    """Texts of our own, and files with random faults. What CPython takes must have the same tree."""
    path, random = pathlib.Path(folder) / "text.py", Random(1)
    failures, taken, missed, tried = [], 0, 0, 0
    for text in TEXTS + REFUSED:
        path.write_bytes(text.encode())
        theirs, ours = tree_of(text.encode()), reader.read(path)
        is_error = any(line.startswith("error") for line in ours)
        if (text in TEXTS) != (theirs is not None):
            if sys.version_info >= (3, 12):
                failures.append(f"CPython says otherwise about {text!r}")
        elif theirs is None and not is_error:
            failures.append(f"no error in {text!r}")
        elif theirs is not None and (found := compare(repr(text), ours, theirs)):
            failures.append(found)
    whole = [text for text in TEXTS if text.strip()]
    for _ in range(CHANGED):
        text = changed("".join(random.choices(whole, k=3)), random)
        path.write_bytes(text.encode())
        theirs, ours = tree_of(text.encode()), reader.read(path)
        tried += 1
        taken += theirs is not None
        if theirs is not None and (found := compare(repr(text), ours, theirs)):
            failures.append(found)
        missed += theirs is None and not any(line.startswith("error") for line in ours)
    print(f"{tried} texts with random faults: CPython takes {taken}, all equal but "
          f"{len(failures)}; of those that it refuses Keel reads {missed} without an error")
    return failures


def main(program, *arguments_):
    wanted = [pathlib.Path(path) for path in arguments_ if path != "--all"] or files()
    if not arguments_:
        wanted = wanted[::SAMPLE]
    reader = Reader(program)
    with tempfile.TemporaryDirectory() as folder:
        failures = made_up(reader, folder)
    accepted = []
    equal = refused = nodes = 0
    for path in wanted:
        data = path.read_bytes()
        ours = reader.read(path)
        theirs = tree_of(data)
        if theirs is None:
            refused += 1
            if not any(line.startswith("error") for line in ours):
                accepted.append(str(path))
            continue
        found = compare(path, ours, theirs)
        if found:
            failures.append(found)
        else:
            equal += 1
            nodes += len(theirs)
    for found in failures[:20]:
        print(found)
    print(f"{equal} of {len(wanted)} files have equal trees, {nodes} nodes; CPython refuses "
          f"{refused}, of which Keel reads {len(accepted)} without an error; {len(failures)} differ")
    if accepted:
        print("  without an error:", *accepted)
    return 1 if failures or not equal else 0


if __name__ == "__main__":
    sys.stdout = io.TextIOWrapper(sys.stdout.buffer, errors="backslashreplace")
    sys.exit(main(*sys.argv[1:]))
