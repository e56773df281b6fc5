# cause: structure
# subject: train
# old: True
# new: False
# reason: the key is gone because the branch that used it is

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames="train")
def step(x, key, train):
    hidden = jnp.tanh(x)
    if train:
        kept = jax.random.bernoulli(key, 0.5, x.shape)  # <- cause
        hidden = jnp.where(kept, hidden / 0.5, 0.0)
    return hidden.sum()


x, key = np.ones(8, np.float32), np.array([0, 1], np.uint32)
step(x, key, train=True)
step(x, key, train=False)  # <- call
