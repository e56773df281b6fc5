# cause: constant
# subject: constant f32[16] of add
# old: 1.5
# new: 2.5

import jax
import jax.numpy as jnp
import numpy as np


def make_step(bias):
    bias = jnp.asarray(bias)

    @jax.jit
    def step(x):
        return x + bias  # <- cause
    return step


bias = np.arange(16, dtype=np.float32)
bias[3] = 1.5
x = np.ones(16, np.float32)
make_step(bias)(x)
changed = bias.copy()
changed[3] = 2.5
make_step(changed)(x)  # <- call
