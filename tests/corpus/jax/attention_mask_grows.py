# cause: shape
# subject: x
# old: f32[6,8]
# new: f32[9,8]

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(w, x):
    length = x.shape[0]
    mask = np.tril(np.ones((length, length), bool))
    scores = jnp.where(mask, (x @ w) @ x.T / np.sqrt(x.shape[1]), -1e9)
    position = jnp.arange(length)[:, None] / length
    return jax.nn.softmax(scores) @ (x + position)


w = np.ones((8, 8), np.float32)
step(w, np.ones((6, 8), np.float32))
step(w, np.ones((9, 8), np.float32))  # <- cause
