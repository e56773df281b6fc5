# cause: size
# subject: chosen
# old: 3
# new: 5

import functools

import jax
import jax.numpy as jnp
import numpy as np


def make_step(mask):
    chosen = np.flatnonzero(mask)

    @jax.jit
    def step(x):
        return jnp.sum(x[chosen])  # <- cause
    return step


x = np.ones(8, np.float32)
make_step(np.arange(8) < 3)(x)
make_step(np.arange(8) < 5)(x)  # <- call
