# cause: constant
# subject: position
# old: 2
# new: 3
# pattern: counter

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


@functools.partial(jax.jit, static_argnums=2)
def step(cache, token, position):
    place = jnp.int32(position)
    return lax.dynamic_update_index_in_dim(cache, token, place, 0)  # <- cause


cache, token = np.zeros((8, 4), np.float32), np.ones(4, np.float32)
for position in range(4):
    cache = step(cache, token, position)  # <- call
