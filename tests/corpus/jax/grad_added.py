# cause: structure
# subject: train
# old: False
# new: True

import functools

import jax
import jax.numpy as jnp
import numpy as np


def loss(w, x):
    return jnp.sum(jnp.tanh(x @ w))  # <- cause


@functools.partial(jax.jit, static_argnames="train")
def step(w, x, train):
    if train:
        return jax.value_and_grad(loss)(w, x)
    return loss(w, x)


w, x = np.ones(4, np.float32), np.ones((8, 4), np.float32)
step(w, x, train=False)
step(w, x, train=True)  # <- call
