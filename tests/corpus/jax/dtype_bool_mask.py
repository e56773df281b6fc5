# cause: dtype
# subject: mask
# old: bool[8]
# new: f32[8]

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(x, mask):
    return jnp.sum(x * mask)


x = np.ones(8, np.float32)
step(x, np.ones(8, bool))
step(x, np.ones(8, np.float32))  # <- cause
