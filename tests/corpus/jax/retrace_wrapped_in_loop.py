# cause: retrace

import jax
import jax.numpy as jnp
import numpy as np


def make_step():
    def step(x):
        return jnp.tanh(x) * 2.0
    return step


x = np.ones(8, np.float32)
for _ in range(3):
    jax.jit(make_step())(x)  # <- cause
