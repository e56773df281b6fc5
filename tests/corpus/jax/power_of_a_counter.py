# cause: constant
# subject: power
# old: 5
# new: 6
# pattern: counter
# reason: a whole exponent is unrolled into products; what counts up is the exponent

import functools

import jax
import numpy as np


@functools.partial(jax.jit, static_argnums=1)
def step(x, power):
    raised = x ** power  # <- cause
    return raised.sum()


x = np.ones(8, np.float32)
for power in range(2, 7):
    step(x, power)  # <- call
