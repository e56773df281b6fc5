# cause: size
# subject: beams
# old: 2
# new: 3

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnums=1)
def step(x, beams):
    wide = jnp.broadcast_to(x, (beams, 4))  # <- cause
    return jnp.cumsum(wide, axis=0)


x = np.ones(4, np.float32)
step(x, 2)
step(x, 3)  # <- call
