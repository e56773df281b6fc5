# cause: constant
# subject: constant f32[64,64] of dot_general
# old: 1
# new: 9

import jax
import jax.numpy as jnp
import numpy as np


def make_step(weights):
    table = jnp.asarray(weights)

    @jax.jit
    def step(x):
        return x @ table  # <- cause
    return step


weights = np.ones((64, 64), np.float32)
weights[0, 0] = 2.0
x = np.ones((2, 64), np.float32)
make_step(weights)(x)
weights = weights.copy()
weights[10, 7] = 9.0
make_step(weights)(x)  # <- call
