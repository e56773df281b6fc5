# cause: arguments
# subject: mask
# old: absent
# new: f32[8]

import jax
import numpy as np


@jax.jit
def step(x, mask=None):
    if mask is not None:
        x = x * mask
    return x + 1.0


ones = np.ones(8, np.float32)
step(ones)
step(ones, ones)  # <- cause
