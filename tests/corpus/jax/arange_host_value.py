# cause: size
# subject: length
# old: 8
# new: 12

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnums=1)
def step(scale, length):
    positions = jnp.arange(length, dtype=jnp.float32)  # <- cause
    return jnp.sum(jnp.sin(positions * scale))


step(np.float32(0.5), 8)
step(np.float32(0.5), 12)  # <- call
