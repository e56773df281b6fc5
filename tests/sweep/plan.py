"""What the sweep runs: recipes (an expression over arguments), the changes that suit each, and the
source of the program that makes one recompile of each pair.

A recipe's arguments are a text, one after another, parted by semicolons:

    x: f32[b,4]                 data; a letter is a dimension that changes
    params = made(layer.init, x)    made of those before it; not touched where a dtype changes
    n: 2 -> 3 size              a static number, and what its change must be explained as
    mask := None => array('bool', 8)    what is passed before and after
"""

import dataclasses
import re

# What each letter of a shape takes, before and after. The first of a letter's pairs gives its size
# where another one changes.
SIZES = {
    "b": [(8, 5), (4, 3), (13, 11), (6, 7)],   # rows of a batch
    "l": [(12, 7), (9, 10), (6, 1), (13, 11)],  # a length
    "n": [(8, 5), (12, 7), (13, 11), (9, 10), (4, 3), (6, 1)],  # any dimension
    "s": [(16, 12), (12, 14)],                  # the side of a picture
}
DTYPES = {"f32": ["bf16", "f16"], "i32": ["i8", "f32"], "bool": ["f32", "i32"]}


@dataclasses.dataclass(frozen=True)
class Recipe:
    name: str
    arguments: str
    body: str             # an expression, or lines of which the last returns
    setup: str = ""
    sizes: tuple = None   # pairs of letter and index that are taken; None for all
    dtypes: tuple = None  # names of the arguments whose dtype changes; None for all data
    jit: str = "jax.jit"
    change: str = "value"  # the word of the change where an argument has `:=`
    skip: tuple = ()      # words of changes that are left out, with the reason beside them in the table


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    recipe: Recipe
    change: str
    base: tuple           # statements that make the arguments
    changed: tuple
    expected: dict        # kind, old, new, line: "call" or "body"; {} where the arguments tell
    statics: tuple = ()


def parts_of(recipe):
    return [part.strip() for part in recipe.arguments.split(";")]


def names_of(recipe):
    return [re.match(r"\w+", part)[0] for part in parts_of(recipe)]


def data_of(recipe):
    """Name, type and dimensions of each argument that is data."""
    found = {}
    for part in parts_of(recipe):
        match = re.fullmatch(r"(\w+): (\w+)\[([^\]]*)\]", part)
        if match:
            found[match[1]] = match[2], match[3].replace(" ", "")
    return found


def letters_of(recipe):
    text = ",".join(dims for _, dims in data_of(recipe).values())
    return [letter for letter in SIZES if re.search(rf"\b{letter}\b|(?<![a-z]){letter}(?![a-z])", text)]


def statements(recipe, sizes, types, keep_made=False, side=0):
    """What makes the arguments, in the order in which they can be made."""
    data, made = [], []
    for part in parts_of(recipe):
        name = re.match(r"\w+", part)[0]
        if " := " in part:
            data.append(f"{name} = {part.split(' := ')[1].split(' => ')[side]}")
        elif name in data_of(recipe):
            kind, dims = data_of(recipe)[name]
            dims = [str(eval(one, {}, dict(sizes))) for one in dims.split(",") if one]
            data.append(f"{name} = array({types.get(name, kind)!r}, {', '.join(dims)})".replace(", )", ")"))
        elif " = " in part and not keep_made:
            made.append(part)
    return tuple(data + made)


def static_of(recipe):
    for part in parts_of(recipe):
        match = re.fullmatch(r"(\w+): (.+) -> (.+) (size|constant|structure|size\|constant)(?: (\S+) -> (\S+))?", part)
        if match:
            return match.groups()
    return None


def cases_of(recipe):
    """Each change that suits the recipe."""
    first = {letter: SIZES[letter][0][0] for letter in SIZES}
    static = static_of(recipe)
    if static:
        yield from static_cases(recipe, first, *static)
        return
    if " := " in recipe.arguments:
        yield Case(f"{recipe.name}_{recipe.change}", recipe, recipe.change, statements(recipe, first, {}),
                   statements(recipe, first, {}, side=1), {})
        return
    for letter in letters_of(recipe):
        for index, (old, new) in enumerate(SIZES[letter]):
            change = f"{letter}_{old}_{new}"
            if recipe.sizes is not None and (letter, index) not in recipe.sizes or letter in recipe.skip or change in recipe.skip:
                continue
            yield Case(f"{recipe.name}_{change}", recipe, change,
                       statements(recipe, first | {letter: old}, {}),
                       statements(recipe, first | {letter: new}, {}), {})
    for name, (kind, _) in data_of(recipe).items():
        if recipe.dtypes is not None and name not in recipe.dtypes:
            continue
        for new in DTYPES.get(kind, []):
            if f"{kind}_{new}" in recipe.skip:
                continue
            yield Case(f"{recipe.name}_{name}_{kind}_{new}", recipe, f"{kind}_{new}",
                       statements(recipe, first, {}),
                       statements(recipe, first, {name: new}, keep_made=True), {})


def static_cases(recipe, first, name, old, new, kind, old_value, new_value):
    expected = {"kind": kind, "old": old_value, "new": new_value, "line": "body"}
    made = statements(recipe, first, {})
    for how in ("static", "closed"):
        yield Case(f"{recipe.name}_{how}", recipe, how, made + (f"{name} = {old}",),
                   made + (f"{name} = {new}",), expected, (name,) if how == "static" else ())


def source_of(family, imports, cases):
    """The program, and the lines of each case: name to the body's last line and the call's line."""
    lines = ["import functools", "", "import jax", "import jax.numpy as jnp", "import numpy as np",
             *imports.strip().splitlines(), "",
             "from planting import array, attempt, made, plant", ""]
    places = {}

    def put(text, depth=1):
        for line in text.strip("\n").splitlines():
            lines.append("    " * depth + line if line else "")

    for number, case in enumerate(cases):
        recipe = case.recipe
        names = names_of(recipe)
        lines += ["", "", f"def case_{number}():"]
        if recipe.setup:
            put(recipe.setup)
        arguments = ", ".join(names) + ","
        for side, made_by in (("base", case.base), ("changed", case.changed)):
            for statement in made_by:
                put(statement)
            put(f"{side} = {arguments}")
        closed = case.change == "closed"
        if closed:
            number_name = static_of(recipe)[0]
            names = [name for name in names if name != number_name]
            put(f"\ndef maker({number_name}):")
        depth = 2 if closed else 1
        jit = recipe.jit
        if case.statics:
            jit = f"functools.partial({recipe.jit}, static_argnames={case.statics[0]!r})"
        put(f"@{jit}", depth)
        put(f"def {case.name}({', '.join(names)}):", depth)
        body = recipe.body.strip("\n").splitlines()
        if len(body) == 1 and not body[0].startswith("return "):
            body = ["return " + body[0]]
        for line in body:
            put(line.split("  # <-")[0], depth + 1)
            if line.endswith("# <- cause"):
                places.setdefault(case.name, {})["body"] = len(lines)
        places.setdefault(case.name, {}).setdefault("body", len(lines))
        if closed:
            put(f"return {case.name}", 2)
        if closed:
            at = names_of(recipe).index(static_of(recipe)[0])
            put("for side in base, changed:")
            put(f"maker(side[{at}])(*side[:{at}], *side[{at + 1}:])", 2)
        else:
            put("for side in base, changed:")
            put(f"{case.name}(*side)", 2)
        places[case.name]["call"] = len(lines)
        function = "None" if closed else case.name
        put(f"plant({case.name!r}, {case.change!r}, {names_of(recipe)!r}, base, changed, {function})")
    lines += ["", ""]
    for number, case in enumerate(cases):
        lines.append(f"attempt({case.name!r}, case_{number})")
    return "\n".join(lines) + "\n", places
