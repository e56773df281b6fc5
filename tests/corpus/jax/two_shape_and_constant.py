# cause: shape
# subject: x
# old: f32[8]
# new: f32[6]
# and
# cause: constant
# subject: rate
# old: 0.1
# new: 0.3

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnums=1)
def step(x, rate):
    hidden = jnp.tanh(x)
    return jnp.sum(hidden * rate)  # <- cause 2


step(np.ones(8, np.float32), 0.1)
step(np.ones(6, np.float32), 0.3)  # <- cause, call 2
