# cause: constant
# subject: scale
# old: 0.5
# new: 0.25

import functools

import jax
import jax.numpy as jnp
import numpy as np


def step(x, scale):
    return jnp.tanh(x) * scale  # <- cause


x = np.ones(8, np.float32)
for scale in (0.5, 0.25):
    jax.jit(functools.partial(step, scale=scale))(x)  # <- call
