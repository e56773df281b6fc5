# cause: arguments
# subject: arguments
# advice: by name
# reason: training gives the batch by its place, the evaluation by its name; jit sorts what is given by name, so the arguments are in another order

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def loss(params, batch):
    out = jnp.tanh(batch["x"] @ params["w"]) + params["b"]
    return jnp.mean((out - batch["y"]) ** 2)


def train(params, batches):
    for batch in batches:
        print(float(loss(params, batch)))


def evaluate(params, batches):
    return np.mean([float(loss(params=params, batch=batch)) for batch in batches])  # <- cause


params = {"w": np.ones((3, 2), np.float32), "b": np.zeros(2, np.float32)}
batches = [{"x": np.ones((4, 3), np.float32), "y": np.zeros((4, 2), np.float32)}] * 2
train(params, batches)
evaluate(params, batches)
