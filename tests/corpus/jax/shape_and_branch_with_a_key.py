# cause: shape
# subject: p['attention']['key']
# old: f32[8,8]
# new: f32[8,6]
# and
# cause: structure
# new: True

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames="rotary")
def step(p, x, rotary):
    h = x * 2.0
    if rotary:
        h = jnp.cos(h) * jnp.sin(h)  # <- cause 2
    return h @ p["attention"]["key"]


x = np.ones((4, 8), np.float32)
step({"attention": {"key": np.ones((8, 8), np.float32)}}, x, rotary=False)
step({"attention": {"key": np.ones((8, 6), np.float32)}}, x, rotary=True)  # <- cause
