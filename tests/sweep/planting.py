"""What the programs of the sweep use: data, weights without a compile, and a note of what was planted."""

import json

import jax
import jax.numpy as jnp
import numpy as np
from jax._src.interpreters import partial_eval

TYPES = {"f32": np.float32, "bf16": jnp.bfloat16, "f16": np.float16, "i32": np.int32, "i8": np.int8,
         "u32": np.uint32, "u8": np.uint8, "bool": np.bool_, "i16": np.int16}
WORDS = {np.dtype(kind): word for word, kind in TYPES.items()}
NOTES = open("planted.ndjson", "w", buffering=1)


def array(kind, *shape):
    """Small numbers that differ, from NumPy: nothing is compiled for them."""
    values = np.arange(int(np.prod(shape)), dtype=np.float64).reshape(shape)
    if kind in ("f32", "bf16", "f16"):
        return (0.1 + (values % 7) / 8).astype(TYPES[kind])
    return (values % (2 if kind == "bool" else 3)).astype(TYPES[kind])


def filled(leaf):
    if not hasattr(leaf, "shape") or not hasattr(leaf, "dtype"):
        return leaf
    if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return jax.random.key(0)
    return np.full(leaf.shape, 0.5 if jnp.issubdtype(leaf.dtype, jnp.floating) else 1, leaf.dtype)


def made(init, *arguments, **named):
    """What init(key, ...) gives, with other numbers in it and without a compile."""
    return jax.tree.map(filled, jax.eval_shape(init, jax.random.key(0), *arguments, **named))


def word_of(leaf):
    if leaf is None:
        return "absent"
    kind = np.asarray(leaf).dtype if not hasattr(leaf, "dtype") else leaf.dtype
    weak = "weak " if isinstance(leaf, (bool, int, float)) else ""
    if weak:
        kind = jnp.result_type(type(leaf)) if not isinstance(leaf, bool) else np.dtype(bool)
    known = kind if jax.dtypes.issubdtype(kind, jax.dtypes.extended) else WORDS.get(np.dtype(kind), kind)
    return f"{weak}{known}[{','.join(map(str, np.shape(leaf)))}]"


def leaves_of(names, side):
    """The leaves as the function names them, in their order."""
    found = {}
    for name, value in zip(names, side):
        for path, leaf in jax.tree_util.tree_flatten_with_path(value)[0]:
            found[name + jax.tree_util.keystr(path)] = word_of(leaf)
    return found


def read_of(function, side):
    """Which leaves the traced function reads: JAX leaves the others out of the program."""
    try:
        jaxpr = function.trace(*side).jaxpr.jaxpr
        return partial_eval.dce_jaxpr(jaxpr, [True] * len(jaxpr.outvars))[1]
    except Exception:  # a function that a library jits, another JAX: then all count as read
        return None


def dropped(leaves, read):
    names = list(leaves)
    return set() if read is None or len(read) != len(names) else {
        name for name, is_read in zip(names, read) if not is_read}


def plant(name, change, names, base, changed, function):
    """Notes the first argument that is another one. That is the answer, unless the table has one."""
    before, after = leaves_of(names, base), leaves_of(names, changed)
    unread = dropped(before, read_of(function, base)) & dropped(after, read_of(function, changed))
    before = {leaf: word for leaf, word in before.items() if leaf not in unread}
    after = {leaf: word for leaf, word in after.items() if leaf not in unread}
    note = {"name": name, "change": change}
    for leaf in list(before) + [leaf for leaf in after if leaf not in before]:
        old, new = before.get(leaf, "absent"), after.get(leaf, "absent")
        if old != new:
            kind = kind_of(old, new)
            if kind != "weak_type":  # whether a number was Python's is said only where nothing else differs
                old, new = old.removeprefix("weak "), new.removeprefix("weak ")
            note |= {"kind": kind, "subject": leaf, "old": old, "new": new}
            break
    NOTES.write(json.dumps(note) + "\n")


def kind_of(old, new):
    if "absent" in (old, new):
        return "arguments"
    if ("weak" in old) != ("weak" in new) and old.removeprefix("weak ") == new.removeprefix("weak "):
        return "weak_type"
    return "dtype" if old.split("[")[0] != new.split("[")[0] else "shape"


def attempt(name, case):
    """One case that does not run must not end the others."""
    try:
        case()
    except Exception as error:  # whatever a library raises
        NOTES.write(json.dumps({"name": name, "error": f"{type(error).__name__}: {error}"[:300]}) + "\n")
