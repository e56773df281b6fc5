# cause: constant
# subject: number
# old: 3
# new: 4
# pattern: counter

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnums=1)
def step(x, number):
    return jnp.tanh(x) + number  # <- cause


x = np.ones(8, np.float32)
for number in range(1, 5):
    step(x, number)  # <- call
