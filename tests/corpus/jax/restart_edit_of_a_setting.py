# cause: edit
# subject: LEARNING_RATE
# old: LEARNING_RATE = 0.1
# new: LEARNING_RATE = 0.02
# run: 0.1
# run: 0.02

import pathlib
import sys

import numpy as np

FILE = pathlib.Path("edited_model.py")
FILE.write_text(f"""
import jax
import jax.numpy as jnp

LEARNING_RATE = {sys.argv[1]}


def loss(w, x):
    return jnp.mean((x @ w) ** 2)


@jax.jit
def step(w, x):
    slope = jax.grad(loss)(w, x)
    return w - LEARNING_RATE * slope
""")
sys.path.insert(0, str(FILE.resolve().parent))
import edited_model  # noqa: E402

edited_model.step(np.ones((4, 4), np.float32), np.ones((8, 4), np.float32))
