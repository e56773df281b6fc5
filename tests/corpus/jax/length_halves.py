# cause: shape
# subject: x
# old: f32[4,40]
# new: f32[4,26]

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(x):
    n = x.shape[1]
    even, odd = x[:, ::2], x[:, 1::2]
    position = jnp.arange(n // 2, dtype=jnp.float32) / (n // 2)
    return ((even - odd) * position).mean() + x[:, n // 2:].mean()


step(np.ones((4, 40), np.float32))
step(np.ones((4, 26), np.float32))  # <- cause
