# cause: retrace

import jax
import numpy as np


def step(x):
    return (x * 2.0).sum()


x = np.ones(8, np.float32)
for _ in range(3):
    jax.clear_caches()
    jax.jit(step)(x)  # <- cause
