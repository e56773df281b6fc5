# cause: shape
# subject: x
# old: f32[8]
# new: f32[4]

import functools

import jax
import jax.numpy as jnp
import numpy as np


# What is traced under the function's name is not that function.
def instead(function):
    @functools.wraps(function)
    def wrapper(x):
        for i in range(20):
            x = jnp.sin(x) * i + 1
        return x
    return wrapper


@jax.jit
@instead
def step(x):
    return x


def go(count):
    step(np.ones(count, np.float32))  # <- cause


go(8)
go(4)  # <- call
