# cause: constant
# old: f32[4,8]
# new: f32[8]
# reason: both are spread to the same shape, so only the baked-in array itself differs

import jax
import numpy as np


def make_step(bias):
    def step(x):
        return (x + bias) * 2.0  # <- cause
    return jax.jit(step)


x = np.ones((4, 8), np.float32)
rows = np.arange(8, dtype=np.float32)
make_step(np.stack([rows, rows + 1, rows + 2, rows + 3]))(x)
make_step(rows[None])(x)  # <- call
