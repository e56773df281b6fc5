# cause: constant
# subject: power
# old: 2
# new: 3
# reason: a small whole exponent is unrolled into products; told is the exponent

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
