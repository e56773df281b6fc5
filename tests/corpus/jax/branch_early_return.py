# cause: structure
# subject: metrics
# old: False
# new: True

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnums=2)
def step(w, x, metrics):
    out = jnp.tanh(x @ w)
    loss = jnp.mean(out ** 2)
    if metrics:
        return loss, jnp.max(out)  # <- cause
    return loss


w, x = np.ones((4, 3), np.float32), np.ones((2, 4), np.float32)
step(w, x, False)
step(w, x, True)  # <- call
