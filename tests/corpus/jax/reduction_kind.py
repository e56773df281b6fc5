# cause: structure
# subject: how
# old: 'sum'
# new: 'max'

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames="how")
def step(x, how):
    if how == "sum":
        pooled = x.sum(axis=0)
    else:
        pooled = x.max(axis=0)  # <- cause
    return pooled * 2.0


x = np.ones((4, 6), np.float32)
step(x, how="sum")
step(x, how="max")  # <- call
