# cause: shape
# subject: weights
# old: f32[5]
# new: f32[3]
# reason: one call makes both smaller, and the weights come first

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def fit(weights, data):
    def loss(weights):
        return jnp.mean((data["x"] @ weights - data["y"]) ** 2)

    for _ in range(2):
        weights = weights - 0.1 * jax.grad(loss)(weights)
    return weights


def run(columns):
    data = {"x": np.ones((8, columns), np.float32), "y": np.ones(8, np.float32)}
    return fit(np.zeros(columns, np.float32), data)  # <- cause


for columns in (5, 5, 3):
    run(columns)  # <- call
