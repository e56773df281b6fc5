# cause: structure
# subject: multiply
# old: 1 time
# new: 2 times
# reason: a small whole exponent is unrolled into products; how many there are is told

import functools

import jax
import numpy as np


@functools.partial(jax.jit, static_argnums=1)
def step(x, power):
    raised = x ** power  # <- cause
    return raised.sum()


x = np.ones(8, np.float32)
step(x, 2)
step(x, 3)  # <- call
