# cause: constant
# subject: power
# old: 3
# new: 0
# reason: x ** 0 is a constant one that has the power's name and place

import functools

import jax
import numpy as np


@functools.partial(jax.jit, static_argnums=1)
def step(x, power):
    raised = (x + 3) ** power  # <- cause
    return (raised * x).sum()


x = np.ones(8, np.float32)
step(x, 3)
step(x, 0)  # <- call
