# cause: shape
# subject: x
# old: f32[8]
# new: f32[4]

import functools

import jax
import jax.numpy as jnp
import numpy as np


def timed(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)  # <- cause
    return wrapper


@timed
@jax.jit
def step(x):
    return jnp.exp(x).sum()


step(np.ones(8, np.float32))
step(np.ones(4, np.float32))  # <- call
