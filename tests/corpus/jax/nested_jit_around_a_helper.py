# cause: nested_jit
# subject: helper
# old: part of its caller
# new: a jit of its own
# advice: in every call, or in none

import jax
import jax.numpy as jnp
import numpy as np


def helper(x, w):
    h = jnp.tanh(x @ w)
    h = jnp.where(h > 0, h, h * 0.1)
    return h - h.mean(axis=-1, keepdims=True)


def make(function):
    def step(x, w):
        y = function(x, w)  # <- cause
        return jnp.exp(y).sum()

    return jax.jit(step)


x = np.ones((8, 8), np.float32)
make(helper)(x, x)
make(jax.jit(helper))(x, x)  # <- call
