# cause: shape
# subject: layers[1]
# old: f32[4,4]
# new: f32[4,5]

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(layers, x):
    for w in layers:
        x = jnp.tanh(x @ w)
    return x


def ones(*shape):
    return np.ones(shape, np.float32)


step([ones(3, 4), ones(4, 4)], ones(2, 3))
step([ones(3, 4), ones(4, 5)], ones(2, 3))  # <- cause
