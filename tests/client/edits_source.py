"""Edits of a source file that leave the program's meaning as it is: each must keep its key.

An edit is a name and a function from the text of BASE to the edited text. The last four are those
that cost a JAX user's own cache a recompile."""

BASE = '''\
import jax
import jax.numpy as jnp
import numpy as np


def helper(v, scale):
    squashed = jnp.tanh(v)
    return squashed * scale


inner = jax.jit(helper)


def step(params, x):
    hidden = inner(x @ params["w"], 0.5)
    for _ in range(3):
        hidden = inner(hidden + params["b"], 1.25)
    error = hidden - 1.0
    return {"loss": (error * error).sum(), "out": hidden}


program = jax.jit(step)
vector, matrix, batch = [jax.ShapeDtypeStruct(s, np.float32) for s in ((8,), (8, 8), (4, 8))]
shapes = ({"b": vector, "w": matrix}, batch)
lowered = program.lower(*shapes)
'''


def replace(*pairs):
    def edit(text):
        for old, new in pairs:
            assert old in text, old
            text = text.replace(old, new)
        return text
    return edit


STEP = '''def step(params, x):
'''
IN_A_CLASS = replace((STEP, '''class Model:
  def __call__(self, params, x):
'''), ("jax.jit(step)", "jax.jit(Model())"))

EDITS = [
    ("nothing", lambda text: text),
    ("comment lines at the top", lambda text: "# A comment.\n# Another.\n\n" + text),
    ("comment lines inside the function", replace(("    error =", "    # the error\n    error ="))),
    ("blank lines", lambda text: text.replace("\n", "\n\n")),
    ("whitespace inside a line", replace(("error * error", "error   *   error"))),
    ("one statement on two lines", replace((
        'x @ params["w"], 0.5', 'x @\n  params["w"], 0.5'))),
    ("docstrings", replace((STEP, STEP + '    """One step."""\n'))),
    ("type annotations", replace((STEP, "def step(params: dict, x: jax.Array) -> dict:\n"))),
    ("a local name", replace(("hidden", "activations"))),
    ("a name inside the helper", replace(("squashed", "bounded"))),
    ("an argument's name", replace(("(params, x)", "(params, batch)"), ("(x @", "(batch @"))),
    ("a helper's argument's name", replace((
        "(v, scale)", "(value, factor)"), ("tanh(v)", "tanh(value)"), ("* scale", "* factor"))),
    ("input dictionary keys, in the same order", replace(('"w"', '"weights"'), ('"b"', '"bias"'))),
    ("a named scope", replace(("    hidden = inner(x",
                               "    with jax.named_scope('first'):\n     hidden = inner(x"))),
    ("named scopes within one another", replace((
        "    error = hidden - 1.0", "    with jax.named_scope('a'), jax.named_scope('b'):\n"
                                    "        error = hidden - 1.0"))),
    ("more constants and helpers that nobody uses", replace((
        "inner =", "UNUSED = 3.0\n\n\ndef unused(v):\n    return v * UNUSED\n\n\ninner ="))),
    ("a constant under a name", replace(
        ("0.5)", "HALF)"), ("inner =", "HALF = 1 / 2\n\n\ninner ="))),
    ("a print while tracing", replace(("    error =", "    str(hidden.shape)\n    error ="))),
    ("an assertion while tracing", replace((
        "    error =", "    assert hidden.ndim == 2\n    error ="))),
    ("a for loop written as while", replace((
        "    for _ in range(3):\n", "    count = 0\n    while count < 3:\n        count += 1\n"))),
    ("the call through a partial", replace((
        "jax.jit(step)", "jax.jit(__import__('functools').partial(step))"))),
    ("the function inside another", replace(("jax.jit(step)", "(lambda: jax.jit(step))()"))),
    ("the function as an object with a call", IN_A_CLASS),
    ("the lowering called from deeper", replace((
        "program.lower(*shapes)", "(lambda p: (lambda: p.lower(*shapes))())(program)"))),
    ("arguments by keyword", replace(("program.lower(*shapes)",
                                      "program.lower(params=shapes[0], x=shapes[1])"))),
    ("numpy arrays in place of shapes", replace((
        "*shapes)", "*jax.tree.map(lambda s: np.zeros(s.shape, s.dtype), shapes))"))),
    ("a tuple in place of the output dictionary", replace((
        '{"loss": (error * error).sum(), "out": hidden}', "(error * error).sum(), hidden"))),
    ("a list in place of the input dictionary", replace((
        'params["w"]', "params[1]"), ('params["b"]', "params[0]"),
        ('{"b": vector, "w": matrix}', "[vector, matrix]"))),
    ("traced twice", replace(("lowered =", "program.lower(*shapes)\nlowered ="))),
    ("a renamed output dictionary key", replace(('"loss"', '"lost"'))),
    ("a renamed top-level function", replace(
        ("def step", "def train_step"), ("(step)", "(train_step)"))),
    ("a renamed inner jitted helper", replace(("helper", "activation"))),
    ("a lambda around it", replace((
        "jax.jit(step)", "jax.jit(lambda params, x: step(params, x))"))),
]

# Edits of where the file stands: a folder, a file name.
PLACES = [
    ("the file moved to another folder", "elsewhere/deeper", "model.py"),
    ("the file renamed", "source", "another_model.py"),
]

# A module of its own for the helper.
HELPER_ELSEWHERE = replace(('''def helper(v, scale):
    squashed = jnp.tanh(v)
    return squashed * scale


''', "from keel_test_helper import helper\n\n\n"))
HELPER_MODULE = '''\
"""The helper, with lines of its own."""
import jax.numpy as jnp


def helper(v, scale):
    squashed = jnp.tanh(v)
    return squashed * scale
'''
MISSED_BY_JAX = 4
