# cause: first
# reason: two functions of one name, each compiled once

import jax
import jax.numpy as jnp
import numpy as np


def attention():
    def step(q, k, v):
        return jax.nn.softmax(q @ k.T) @ v
    return jax.jit(step)


def histogram():
    def step(ids):
        counts = jnp.zeros(32, jnp.int32).at[ids].add(1)
        return jnp.argmax(counts), jnp.bitwise_or(counts, 1)
    return jax.jit(step)


x = np.ones((4, 8), np.float32)
attention()(x, x, x)
histogram()(np.zeros(100, np.int32))
