# cause: shape
# subject: batch['tokens']
# old: i32[4,16]
# new: i32[4,24]

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(params, batch):
    embedded = params["table"][batch["tokens"]]
    weight = batch["weight"][:, None, None]
    return jnp.sum(embedded * weight)


def train(length):
    batch = {"tokens": np.zeros((4, length), np.int32), "weight": np.ones(4, np.float32)}
    return step(params, batch)  # <- cause


params = {"table": np.ones((10, 6), np.float32)}
train(16)
train(24)  # <- call
