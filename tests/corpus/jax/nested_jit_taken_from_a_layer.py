# cause: nested_jit
# subject: layer
# old: a jit of its own
# new: part of its caller

import jax
import jax.numpy as jnp
import numpy as np


def layer(x, w):
    h = jnp.tanh(x @ w)
    return h / (1.0 + jnp.abs(h).sum(-1, keepdims=True))


def make(function):
    def step(weights, x):
        for w in weights:
            x = function(x, w)  # <- cause
        return (x ** 2).mean()

    return jax.jit(step)


w = np.ones((8, 8), np.float32)
make(jax.jit(layer))([w, w, w], w)
make(layer)([w, w, w], w)  # <- call
