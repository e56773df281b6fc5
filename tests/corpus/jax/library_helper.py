# cause: constant
# subject: slope
# old: 0.01
# new: 0.3

import functools

import jax
import numpy as np


@functools.partial(jax.jit, static_argnums=1)
def step(x, slope):
    activated = jax.nn.leaky_relu(x, slope)  # <- cause
    return activated.sum()


x = np.ones(8, np.float32)
step(x, 0.01)
step(x, 0.3)  # <- call
