# cause: constant
# subject: axis
# old: 0
# new: 1

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnums=1)
def step(x, axis):
    total = jnp.sum(x, axis=axis)  # <- cause
    return jnp.tanh(total)


x = np.ones((4, 4), np.float32)
step(x, 0)
step(x, 1)  # <- call
