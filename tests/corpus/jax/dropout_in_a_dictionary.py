# cause: structure
# reason: the key is passed both times; jit drops it where nothing uses it

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames="train")
def step(x, rngs, train):
    h = jnp.tanh(x)
    if train:
        kept = jax.random.bernoulli(jax.random.wrap_key_data(rngs["dropout"]), 0.9, h.shape)  # <- cause
        h = jnp.where(kept, h / 0.9, 0.0)
    return h.sum()


x, rngs = np.ones(8, np.float32), {"dropout": np.array([0, 1], np.uint32)}
step(x, rngs, train=False)
step(x, rngs, train=True)  # <- call
