# cause: structure
# subject: train
# old: False
# new: True

import functools

import jax
import jax.numpy as jnp
import numpy as np


def dropout(key, x):
    kept = jax.random.bernoulli(key, 0.9, x.shape)  # <- cause
    return jnp.where(kept, x / 0.9, 0.0)


@functools.partial(jax.jit, static_argnames="train")
def step(x, key, train):
    key, noise = jax.random.split(jax.random.wrap_key_data(key))
    hidden = jnp.tanh(x)
    if train:
        hidden = dropout(noise, hidden)
    return hidden.sum(), jax.random.key_data(key)


x, key = np.ones(8, np.float32), np.array([0, 1], np.uint32)
step(x, key, train=False)
step(x, key, train=True)  # <- call
