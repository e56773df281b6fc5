# cause: dtype
# subject: batch
# old: f32[8]
# new: f16[8]

import jax
import numpy as np


@jax.jit
def step(batch):
    return (batch * 2).sum()


step(np.ones(8, np.float32))
step(np.ones(8, np.float16))  # <- cause
