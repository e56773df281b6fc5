# cause: structure
# subject: bounded
# old: True
# new: False

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnums=1)
def step(x, bounded):
    if bounded:
        y = jnp.tanh(x)
    else:
        y = jnp.sin(x)  # <- cause
    return y * 2.0


x = np.ones(8, np.float32)
step(x, True)
step(x, False)  # <- call
