# cause: shape
# subject: tokens
# old: i32[2,5]
# new: i32[2,7]
# program: jit_positions

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def positions(tokens):
    return jnp.arange(tokens.shape[1])[None] + jnp.zeros((tokens.shape[0], 1), jnp.int32)


for length in (5, 5, 7):
    positions(np.ones((2, length), np.int32))  # <- cause
