# cause: shape
# subject: tokens
# old: i32[2,19]
# new: i32[2,7]
# pattern: unpadded

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(table, tokens):
    return jnp.mean(table[tokens], axis=1)


table = np.ones((16, 4), np.float32)
for length in (11, 5, 14, 19, 7):
    step(table, np.zeros((2, length), np.int32))  # <- cause
