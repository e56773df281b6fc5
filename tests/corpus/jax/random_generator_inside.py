# cause: option
# subject: jax.random
# old: rbg
# new: threefry2x32
# advice: impl=

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames="kind")
def step(x, seed, kind):
    h = jnp.tanh(x) * 2.0
    key = jax.random.key(seed, impl=kind)  # <- cause
    first, second = jax.random.split(key)
    h = h + jax.random.normal(first, x.shape)
    return h * jax.random.bernoulli(second, 0.5, x.shape)


x = np.ones((8, 4), np.float32)
step(x, np.int32(7), kind="unsafe_rbg")
step(x, np.int32(7), kind="threefry2x32")  # <- call
