# cause: constant
# subject: mask
# old: true
# new: false

import jax
import jax.numpy as jnp
import numpy as np


def make_step(mask):
    def step(x):
        return jnp.where(mask, x, x * x)  # <- cause
    return jax.jit(step)


x = np.ones(8, np.float32)
mask = np.arange(8) < 5
make_step(mask)(x)
make_step(np.arange(8) < 4)(x)  # <- call
