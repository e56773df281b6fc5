# cause: constant
# subject: factor
# old: 2.0
# new: 3.0
# program: jit_scale
# reason: what a factory makes is one function, however often it is called

import jax
import jax.numpy as jnp
import numpy as np


def make(factor):
    @jax.jit
    def scale(x):
        return jnp.exp(x) * factor  # <- cause

    return scale


x = np.ones(8, np.float32)
for factor in (2.0, 3.0):
    make(factor)(x)  # <- call
