# cause: weak_type
# subject: scale
# old: f32[]
# new: weak f32[]

import jax
import numpy as np


@jax.jit
def step(x, scale):
    return x * scale


x = np.ones(8, np.float32)
step(x, np.float32(2.0))
step(x, 2.0)  # <- cause
