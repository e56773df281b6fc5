# cause: dtype
# subject: x
# old: f32[8]
# new: f64[8]

import jax
import numpy as np


@jax.jit
def step(x):
    return (x * 0.5).sum()


x = np.ones(8, np.float64)
step(x)
jax.config.update("jax_enable_x64", True)
step(x)  # <- cause
