# cause: constant
# subject: EPSILON
# old: 1e-06
# new: 1e-05

import jax
import jax.numpy as jnp
import numpy as np

EPSILON = 1e-6


def normalise(x):
    return x / jnp.sqrt(jnp.mean(x * x) + EPSILON)  # <- cause


def step(x):
    return normalise(x) * 2.0


x = np.ones(8, np.float32)
jax.jit(step)(x)
EPSILON = 1e-5
jax.clear_caches()
jax.jit(step)(x)  # <- call
