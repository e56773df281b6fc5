# cause: structure
# subject: flip
# old: False
# new: True
# reason: both are called exponential, so they are counted

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames="flip")
def step(x, y, flip):
    a, b = jnp.exp(x), jnp.exp(y)
    if flip:
        a, b = b, a
    return a - b  # <- cause


x = np.ones(8, np.float32)
step(x, x, flip=False)
step(x, x, flip=True)  # <- call
