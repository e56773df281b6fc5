# cause: structure
# subject: warm
# old: True
# new: False

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnums=1)
def step(x, warm):
    if warm:
        x = jnp.exp(x)  # <- cause
    return x * 3.0


x = np.ones(8, np.float32)
step(x, True)
step(x, False)  # <- call
