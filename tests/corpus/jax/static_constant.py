# cause: constant
# subject: rate
# old: 0.1
# new: 0.2

import functools

import jax
import numpy as np


@functools.partial(jax.jit, static_argnums=1)
def step(x, rate):
    moved = x + 1.0
    return moved * rate  # <- cause


x = np.ones(8, np.float32)
step(x, 0.1)
step(x, 0.2)  # <- call
