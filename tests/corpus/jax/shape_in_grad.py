# cause: shape
# subject: batch['x']
# old: f32[8,4]
# new: f32[3,4]

import jax
import jax.numpy as jnp
import numpy as np


def loss(params, batch):
    hidden = jax.nn.relu(batch["x"] @ params["w1"] + params["b1"])
    out = hidden @ params["w2"]
    return jnp.mean(out ** 2)


@jax.jit
def step(params, batch):
    value, grads = jax.value_and_grad(loss)(params, batch)
    return value, jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def ones(*shape):
    return np.ones(shape, np.float32)


params = {"w1": ones(4, 6), "b1": ones(6), "w2": ones(6, 2)}
for rows in (8, 8, 3):
    value, params = step(params, {"x": ones(rows, 4)})  # <- cause
