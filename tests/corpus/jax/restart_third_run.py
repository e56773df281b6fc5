# cause: dtype
# subject: x
# old: f32[8]
# new: f16[8]
# run: float32
# run: float32
# run: float16

import sys

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(x):
    return jnp.sum(jnp.tanh(x))


step(np.ones(8, sys.argv[1]))  # <- cause
