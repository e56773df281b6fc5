# cause: shape
# subject: x
# old: f32[8,4]
# new: f32[12,4]
# run: 8
# run: 12

import sys

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(w, x):
    return jnp.tanh(x @ w).sum()


step(np.ones(4, np.float32), np.ones((int(sys.argv[1]), 4), np.float32))  # <- cause
