# cause: structure
# subject: train
# old: False
# new: True

import functools

import jax
import jax.numpy as jnp
import numpy as np


def update(w, grad):
    return w - 0.1 * grad


def loss(w, x):
    return jnp.mean(jnp.tanh(x @ w) ** 2)


@functools.partial(jax.jit, static_argnames="train")
def step(w, x, train):
    value = loss(w, x)
    if train:
        w = update(w, jnp.sign(w) * value)  # <- cause
    return w, value


w, x = np.ones(4, np.float32), np.ones((8, 4), np.float32)
step(w, x, train=False)
step(w, x, train=True)  # <- call
