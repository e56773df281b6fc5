# cause: structure
# subject: swapped

import functools

import jax
import numpy as np


@functools.partial(jax.jit, static_argnames="swapped")
def step(a, b, swapped):
    difference = b - a if swapped else a - b  # <- cause
    return difference * 2.0


x = np.ones(8, np.float32)
step(x, x * 2, swapped=False)
step(x, x * 2, swapped=True)  # <- call
