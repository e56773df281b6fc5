# cause: shape
# subject: x
# old: f32[8,4]
# new: f32[4,4]
# and
# cause: constant
# old: 0.5
# new: 1.0
# reason: the bound doubles where the batch halves, by accident

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames="bound")
def step(x, bound):
    clipped = jnp.minimum(x, bound)  # <- cause 2
    return clipped.mean()


step(np.ones((8, 4), np.float32), bound=0.5)
step(np.ones((4, 4), np.float32), bound=1.0)  # <- cause
