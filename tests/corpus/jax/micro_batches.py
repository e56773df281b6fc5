# cause: structure
# subject: parts
# old: 2
# new: 4
# reason: the loop over the parts of a batch is unrolled, and each part is smaller

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames="parts")
def step(w, x, parts):
    total = jnp.zeros_like(w)
    for part in range(parts):
        total = total + jnp.sin(x[part] * w)  # <- cause
    return total


w, x = np.ones(4, np.float32), np.ones((8, 4), np.float32)
step(w, x, parts=2)
step(w, x, parts=4)  # <- call
