# cause: shape
# subject: x
# old: f32[8]
# new: f32[4]

import functools

import jax
import jax.numpy as jnp
import numpy as np


def doubled(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs) * 2
    return wrapper


@jax.jit
@doubled
def step(x):
    return jnp.exp(x).sum()


def go(count):
    step(np.ones(count, np.float32))  # <- cause


go(8)
go(4)  # <- call
