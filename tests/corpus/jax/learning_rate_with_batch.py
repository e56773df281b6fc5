# cause: shape
# subject: batch
# old: f32[16,9]
# new: f32[32,9]
# and
# cause: constant
# subject: rate
# old: 0.01
# new: 0.02

import jax
import jax.numpy as jnp
import numpy as np

rate = 0.01


def loss(w, batch):
    return jnp.mean((batch[:, 1:] @ w) ** 2)


@jax.jit
def step(w, batch):
    return w - rate * jax.grad(loss)(w, batch)  # <- cause 2


w = np.ones((8, 4), np.float32)
step(w, np.ones((16, 9), np.float32))
rate = 0.02
step(w, np.ones((32, 9), np.float32))  # <- cause, call 2
