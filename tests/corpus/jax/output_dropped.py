# cause: structure
# subject: keep
# old: True
# new: False

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames="keep")
def step(x, keep):
    hidden = jnp.tanh(x)
    out = {"y": hidden.sum()}
    if keep:
        out["hidden"] = hidden
    return out


x = np.ones(8, np.float32)
step(x, keep=True)
step(x, keep=False)  # <- cause
