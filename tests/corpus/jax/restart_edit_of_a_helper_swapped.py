# cause: edit
# subject: step
# old: x = squash(x)
# new: x = wave(x)
# run: squash
# run: wave

import pathlib
import sys

import numpy as np

FILE = pathlib.Path("edited_model.py")
FILE.write_text(f"""
import jax
import jax.numpy as jnp


def squash(x):
    return jnp.tanh(x) * 2.0


def wave(x):
    return jnp.sin(x) + 1.0


@jax.jit
def step(x):
    x = {sys.argv[1]}(x)
    return x.sum()
""")
sys.path.insert(0, str(FILE.resolve().parent))
import edited_model  # noqa: E402

edited_model.step(np.ones(8, np.float32))
