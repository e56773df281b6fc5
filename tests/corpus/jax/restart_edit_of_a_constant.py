# cause: edit
# subject: loss
# old: return jnp.mean((x @ w) ** 2) + 0.1 * jnp.sum(w ** 2)
# new: return jnp.mean((x @ w) ** 2) + 0.01 * jnp.sum(w ** 2)
# run: 0.1
# run: 0.01

import pathlib
import sys

import numpy as np

FILE = pathlib.Path("edited_model.py")
FILE.write_text(f"""
import jax
import jax.numpy as jnp


def loss(w, x):
    return jnp.mean((x @ w) ** 2) + {sys.argv[1]} * jnp.sum(w ** 2)


@jax.jit
def step(w, x):
    return w - 0.5 * jax.grad(loss)(w, x)
""")
sys.path.insert(0, str(FILE.resolve().parent))
import edited_model  # noqa: E402

edited_model.step(np.ones((4, 4), np.float32), np.ones((8, 4), np.float32))
