# cause: dtype
# subject: x
# old: f32[8]
# new: f64[8]
# run:
# run: JAX_ENABLE_X64=1

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(x):
    return jnp.exp(x) / 3.0


step(np.ones(8, np.float64))  # <- cause
