# cause: structure
# reason: a text that begins at the margin does not end the arm that it stands in

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames="train")
def step(x, train):
    if train:
        y = jnp.tanh(x) * 2.0
        _ = """
notes at the margin, 0.5 of them
return nothing
"""
        w = jnp.sin(y) + jnp.sqrt(jnp.abs(y))
        v = jnp.exp(w * 0.5)
    else:
        y = jnp.cos(x) * 3.0  # <- cause
        w = jnp.log1p(jnp.abs(y))
        v = jnp.tanh(w) + 7.0
    return v.sum()


x = np.ones((4, 8), np.float32)
step(x, True)
step(x, False)  # <- call
