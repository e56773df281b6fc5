# cause: retrace
# reason: nothing is computed with the scale itself, so that it is a Python number leaves no trace

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(scale):
    return jnp.exp(scale)


step(np.float32(2.0))
step(2.0)  # <- cause
