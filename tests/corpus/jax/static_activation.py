# cause: structure
# subject: activation
# old: 'tanh'
# new: 'sigmoid'
# reason: a sigmoid is made of several operations; which of them is named is left open

import functools

import jax
import jax.numpy as jnp
import numpy as np

ACTIVATIONS = {"tanh": jnp.tanh, "sigmoid": jax.lax.logistic}


@functools.partial(jax.jit, static_argnames="activation")
def step(w, x, activation):
    hidden = x @ w
    hidden = ACTIVATIONS[activation](hidden)  # <- cause
    return hidden.sum()


w, x = np.ones((4, 3), np.float32), np.ones((2, 4), np.float32)
step(w, x, activation="tanh")
step(w, x, activation="sigmoid")  # <- call
