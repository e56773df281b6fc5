# cause: structure
# subject: inclusive
# old: False
# new: True

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames="inclusive")
def step(x, limit, inclusive):
    below = x <= limit if inclusive else x < limit  # <- cause
    return jnp.where(below, x, limit)


x = np.arange(8, dtype=np.float32)
step(x, np.float32(3), inclusive=False)
step(x, np.float32(3), inclusive=True)  # <- call
