# cause: size
# subject: amount
# old: 3
# new: 5

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnums=1)
def step(x, amount):
    padded = jnp.pad(x, (0, amount))  # <- cause
    return jnp.exp(padded)


x = np.ones(5, np.float32)
step(x, 3)
step(x, 5)  # <- call
