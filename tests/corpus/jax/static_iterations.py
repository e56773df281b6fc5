# cause: structure
# subject: rounds
# old: 3
# new: 4

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnums=1)
def step(x, rounds):
    for _ in range(rounds):
        x = jnp.sin(x)  # <- cause
    return x


x = np.ones(8, np.float32)
step(x, 3)
step(x, 4)  # <- call
