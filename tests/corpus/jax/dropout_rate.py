# cause: constant
# subject: rate
# old: 0.5
# new: 0.25

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames="rate")
def step(x, key, rate):
    kept = jax.random.bernoulli(jax.random.wrap_key_data(key), rate, x.shape)  # <- cause
    return jnp.where(kept, x, 0.0)


x, key = np.ones(8, np.float32), np.array([0, 1], np.uint32)
step(x, key, rate=0.5)
step(x, key, rate=0.25)  # <- call
