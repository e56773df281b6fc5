# cause: structure
# subject: descending
# old: False
# new: True

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames="descending")
def step(x, descending):
    ranked = jnp.sort(x, descending=descending)  # <- cause
    return ranked * 2.0


x = np.arange(8, dtype=np.float32)
step(x, descending=False)
step(x, descending=True)  # <- call
