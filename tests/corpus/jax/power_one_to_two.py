# cause: structure
# subject: power
# reason: x ** 1 is x itself and leaves nothing in the program, as would a line that did not run

import functools

import jax
import numpy as np


@functools.partial(jax.jit, static_argnums=1)
def step(x, power):
    raised = (x + 3) ** power  # <- cause
    return (raised * x).sum()


x = np.ones(8, np.float32)
step(x, 1)
step(x, 2)  # <- call
