# cause: size
# subject: count
# old: 4
# new: 6

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames="count")
def step(x, count):
    (where,) = jnp.nonzero(x, size=count)  # <- cause
    return where


x = np.ones(8, np.float32)
step(x, count=4)
step(x, count=6)  # <- call
