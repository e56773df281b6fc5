# cause: structure
# subject: activation
# old: 'tanh'
# new: 'cos'

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames="activation")
def step(w, x, activation):
    hidden = x @ w
    hidden = getattr(jnp, activation)(hidden)  # <- cause
    return hidden.sum()


w, x = np.ones((4, 3), np.float32), np.ones((2, 4), np.float32)
step(w, x, activation="tanh")
step(w, x, activation="cos")  # <- call
