# cause: shape
# subject: x
# old: f32[8]
# new: f32[8,1]

import jax
import numpy as np


@jax.jit
def step(x):
    return (x * 3.0 + 1.0).sum()


step(np.ones(8, np.float32))
step(np.ones((8, 1), np.float32))  # <- cause
