# cause: precision
# subject: precision
# old: None
# new: 'highest'

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames="precision")
def step(w, x, precision):
    hidden = jnp.tanh(x @ w)
    return jnp.dot(hidden, w.T, precision=precision)  # <- cause


w, x = np.ones((4, 3), np.float32), np.ones((2, 4), np.float32)
step(w, x, precision=None)
step(w, x, precision="highest")  # <- call
