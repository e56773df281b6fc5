# cause: dtype
# subject: scale
# old: i32[]
# new: f32[]

import jax
import numpy as np


@jax.jit
def step(x, scale):
    return x * scale


x = np.ones(8, np.float32)
step(x, 2)
step(x, 2.5)  # <- cause
