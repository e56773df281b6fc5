# cause: constant
# subject: slope
# old: 0.5
# new: 0.7

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnums=1)
def inner(x, slope):
    return jnp.where(x > 0, x, x * slope)  # <- cause


def make_step(slope):
    @jax.jit
    def step(x):
        return inner(jnp.sin(x), slope).sum()
    return step


x = np.ones(8, np.float32)
make_step(0.5)(x)
make_step(0.7)(x)  # <- call
