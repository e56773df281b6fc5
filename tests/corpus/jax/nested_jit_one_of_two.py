# cause: constant
# subject: factor
# old: 0.25
# new: 0.75

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnums=1)
def scaled(x, factor):
    return jnp.tanh(x) * factor  # <- cause


@functools.partial(jax.jit, static_argnums=1)
def step(x, factor):
    x = scaled(x, 0.5)
    return scaled(x, factor)


x = np.ones(8, np.float32)
step(x, 0.25)
step(x, 0.75)  # <- call
