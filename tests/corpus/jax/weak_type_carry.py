# cause: weak_type
# subject: total
# old: weak f32[]
# new: f32[]

import jax
import numpy as np


@jax.jit
def step(total, x):
    return total + x.sum()


x = np.ones(8, np.float32)
total = 0.0
for _ in range(3):
    total = step(total, x)  # <- cause
