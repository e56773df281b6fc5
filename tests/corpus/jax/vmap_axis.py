# cause: structure
# subject: axis
# old: 0
# new: 1

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames="axis")
def step(x, axis):
    return jax.vmap(lambda row: jnp.cumsum(row), in_axes=axis)(x)  # <- cause


x = np.ones((4, 4), np.float32)
step(x, axis=0)
step(x, axis=1)  # <- call
