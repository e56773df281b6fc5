# cause: option
# subject: key
# old: threefry2x32
# new: rbg

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(key, x):
    return x + jax.random.uniform(key, (8,))


x = np.ones(8, np.float32)
step(jax.random.key(0), x)
step(jax.random.key(0, impl="rbg"), x)  # <- cause
