# cause: size
# subject: count
# old: 3
# new: 5

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnums=1)
def step(x, count):
    head = x[:count]  # <- cause
    return jnp.mean(jnp.exp(head))


x = np.ones((8, 4), np.float32)
step(x, 3)
step(x, 5)  # <- call
