# cause: constant
# subject: limit
# old: 10.0
# new: 20.0

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


def make_step(limit):
    def going(state):
        return jnp.sum(state) < limit  # <- cause

    def step(x):
        return lax.while_loop(going, lambda v: v * 2.0, x)
    return jax.jit(step)


x = np.ones(4, np.float32)
make_step(10.0)(x)
make_step(20.0)(x)  # <- call
