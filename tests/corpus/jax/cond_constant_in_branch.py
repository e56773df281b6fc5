# cause: constant
# subject: factor
# old: 2.0
# new: 5.0

import jax
import numpy as np
from jax import lax


def make_step(factor):
    def scaled(v):
        return v * factor  # <- cause

    def step(x, hot):
        return lax.cond(hot, scaled, lambda v: v + 1.0, x)
    return jax.jit(step)


x = np.ones(8, np.float32)
make_step(2.0)(x, True)
make_step(5.0)(x, True)  # <- call
