# cause: shape
# subject: batch['tokens']
# old: i32[4,33]
# new: i32[3,20]

import jax
import jax.numpy as jnp
import numpy as np


def loss(params, batch):
    tokens = batch["tokens"]
    hidden = jnp.tanh(params["embed"][tokens[:, :-1]] @ params["w"])
    logits = hidden @ params["embed"].T
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), tokens[:, 1:, None], axis=-1)
    return -jnp.sum(chosen) / (tokens.shape[0] * (tokens.shape[1] - 1))


@jax.jit
def step(params, batch):
    value, grads = jax.value_and_grad(loss)(params, batch)
    return value, jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


params = {"embed": np.ones((32, 8), np.float32), "w": np.ones((8, 8), np.float32)}
step(params, {"tokens": np.zeros((4, 33), np.int32)})
step(params, {"tokens": np.zeros((3, 20), np.int32)})  # <- cause
