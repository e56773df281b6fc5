# cause: shape
# subject: x
# old: f32[8,4]
# new: f32[4,8]

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(x):
    return jnp.cumsum(jnp.exp(x)).sum()


x = np.ones((8, 4), np.float32)
step(x)
step(x.T)  # <- cause
