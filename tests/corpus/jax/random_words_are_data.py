# cause: shape
# subject: codes
# old: u32[8,2]
# new: u32[5,4]

import jax
import numpy as np


@jax.jit
def step(codes):
    return (codes ^ np.uint32(7)).sum(axis=1)


step(np.ones((8, 2), np.uint32))
step(np.ones((5, 4), np.uint32))  # <- cause
