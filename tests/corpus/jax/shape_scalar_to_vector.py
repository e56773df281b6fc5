# cause: shape
# subject: rate
# old: f32[]
# new: f32[1]

import jax
import numpy as np


@jax.jit
def step(w, rate):
    return w - rate * w


w = np.ones(8, np.float32)
step(w, np.float32(0.1))
step(w, np.array([0.1], np.float32))  # <- cause
