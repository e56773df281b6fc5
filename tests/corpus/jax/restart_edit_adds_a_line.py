# cause: edit
# subject: step
# old: nothing
# new: h = h / (1.0 + jnp.abs(h))
# run: before
# run: after

import pathlib
import sys

import numpy as np

LINES = ["# A comment that moves all lines of the second run.",
         "    h = h / (1.0 + jnp.abs(h))"] if sys.argv[1] == "after" else ["", ""]
FILE = pathlib.Path("edited_model.py")
FILE.write_text(f"""{LINES[0]}
import jax
import jax.numpy as jnp


def hidden(w, x):
    return jnp.tanh(x @ w)


@jax.jit
def step(w, x):
    h = hidden(w, x)
{LINES[1]}
    return (h ** 2).sum()
""")
sys.path.insert(0, str(FILE.resolve().parent))
import edited_model  # noqa: E402

edited_model.step(np.ones((4, 4), np.float32), np.ones((8, 4), np.float32))
