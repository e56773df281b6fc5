# cause: constant
# subject: rate
# old: 0.05
# new: 0.025

import functools

import jax
import jax.numpy as jnp
import numpy as np


def schedule(epoch):
    return 0.1 * 0.5 ** epoch


@functools.partial(jax.jit, static_argnums=2)
def step(w, x, rate):
    grad = jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
    return w - rate * grad  # <- cause


w, x = np.ones(4, np.float32), np.ones((8, 4), np.float32)
for epoch in range(3):
    w = step(w, x, schedule(epoch))  # <- call
