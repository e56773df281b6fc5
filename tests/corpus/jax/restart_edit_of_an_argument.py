# cause: edit
# subject: train
# old: total = step(w, x)
# new: total = step(w, x, np.float32(2))
# run: one
# run: two

import pathlib
import sys

MORE = ", np.float32(2)" if sys.argv[1] == "two" else ""
FILE = pathlib.Path("edited_model.py")
FILE.write_text(f"""
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(w, x, scale=None):
    total = jnp.tanh(x @ w).sum()
    if scale is not None:
        total = total * scale
    return total


def train():
    w = np.ones((4, 4), np.float32)
    x = np.ones((8, 4), np.float32)
    total = step(w, x{MORE})
    print(total)
""")
sys.path.insert(0, str(FILE.resolve().parent))
import edited_model  # noqa: E402

edited_model.train()
