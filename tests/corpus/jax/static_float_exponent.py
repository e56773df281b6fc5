# cause: constant
# subject: power
# old: 1.5
# new: 2.5

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnums=1)
def step(x, power):
    raised = jnp.power(x, power)  # <- cause
    return raised.sum()


x = np.ones(8, np.float32)
step(x, 1.5)
step(x, 2.5)  # <- call
