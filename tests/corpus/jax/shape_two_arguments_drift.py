# cause: shape
# subject: x
# old: f32[8,4]
# new: f32[5,4]

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(w, x, y):
    return jnp.mean((x @ w - y) ** 2)


def ones(*shape):
    return np.ones(shape, np.float32)


step(ones(4), ones(8, 4), ones(8))
step(ones(4), ones(5, 4), ones(5))  # <- cause
