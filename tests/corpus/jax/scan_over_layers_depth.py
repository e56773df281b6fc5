# cause: shape
# subject: layers
# old: f32[2,4,4]
# new: f32[3,4,4]

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


@jax.jit
def step(layers, x):
    def body(h, w):
        return jnp.tanh(h @ w), None
    return lax.scan(body, x, layers)[0]


x = np.ones((2, 4), np.float32)
step(np.ones((2, 4, 4), np.float32), x)
step(np.ones((3, 4, 4), np.float32), x)  # <- cause
