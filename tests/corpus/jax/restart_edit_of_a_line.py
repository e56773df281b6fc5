# cause: edit
# subject: step
# old: return jnp.tanh(x) * 2.0
# new: return jnp.sin(x) * 2.0
# advice: edited
# run: tanh
# run: sin

import pathlib
import sys

import numpy as np

FILE = pathlib.Path("edited_model.py")
FILE.write_text(f"""
import jax
import jax.numpy as jnp


@jax.jit
def step(x):
    return jnp.{sys.argv[1]}(x) * 2.0
""")
sys.path.insert(0, str(FILE.resolve().parent))
import edited_model  # noqa: E402

edited_model.step(np.ones(8, np.float32))
