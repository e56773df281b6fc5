# cause: constant
# subject: start
# old: 2
# new: 5
# reason: the piece keeps its size, only its place moves

import jax
import jax.numpy as jnp
import numpy as np


def make_step(start):
    def step(x):
        window = x[start:start + 4]  # <- cause
        return jnp.tanh(window)
    return jax.jit(step)


x = np.ones(12, np.float32)
make_step(2)(x)
make_step(5)(x)  # <- call
