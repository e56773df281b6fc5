# cause: constant
# subject: rate
# old: 0.1
# new: 0.3

import jax
import jax.numpy as jnp
import numpy as np


def make_step(rate):
    def step(x):
        return x * rate  # <- cause
    return jax.jit(step)


x = np.ones(8, jnp.bfloat16)
make_step(0.1)(x)
make_step(0.3)(x)  # <- call
