# cause: shape
# subject: x
# old: f32[6,8]
# new: f32[5,8]
# and
# cause: structure
# subject: activation
# old: tanh
# new: exponential

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames="activation")
def step(w, x, activation):
    hidden = activation(x @ w)  # <- cause 2
    return hidden.sum(axis=0)


w = np.ones((8, 8), np.float32)
step(w, np.ones((6, 8), np.float32), activation=jnp.tanh)
step(w, np.ones((5, 8), np.float32), activation=jnp.exp)  # <- cause, call 2
