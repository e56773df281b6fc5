# cause: shape
# subject: batch
# old: f32[8,4]
# new: f32[6,4]

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(w, batch):
    hidden = jnp.tanh(batch @ w)
    return jnp.mean(hidden ** 2)


w = np.ones((4, 3), np.float32)
step(w, np.ones((8, 4), np.float32))
step(w, np.ones((6, 4), np.float32))  # <- cause
