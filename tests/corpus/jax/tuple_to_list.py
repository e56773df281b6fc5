# cause: retrace
# advice: containers
# reason: a tuple and a list of the same arrays make the same program

import jax
import numpy as np


@jax.jit
def step(pair):
    a, b = pair
    return a * b


ones = np.ones(8, np.float32)
step((ones, ones))
step([ones, ones])  # <- cause
