# cause: structure
# subject: rolled
# old: False
# new: True

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


@functools.partial(jax.jit, static_argnames="rolled")
def step(ws, x, rolled):
    if rolled:
        return lax.scan(lambda h, w: (jnp.tanh(h @ w), None), x, ws)[0]  # <- cause
    for w in ws:
        x = jnp.tanh(x @ w)
    return x


ws, x = np.ones((3, 4, 4), np.float32), np.ones((2, 4), np.float32)
step(ws, x, rolled=False)
step(ws, x, rolled=True)  # <- call
