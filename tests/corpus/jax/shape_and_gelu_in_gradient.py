# cause: shape
# subject: x
# old: f32[6,8]
# new: f32[5,8]
# and
# cause: structure
# old: ...
# new: ...
# reason: both are several operations, and so are their gradients; which of them is named is left open

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames="activation")
def step(w, x, activation):
    def loss(w):
        hidden = activation(x @ w)  # <- cause 2
        return ((hidden - 1) ** 2).mean()

    return w - 0.1 * jax.grad(loss)(w)


w = np.ones((8, 8), np.float32)
step(w, np.ones((6, 8), np.float32), activation=jnp.tanh)
step(w, np.ones((5, 8), np.float32), activation=jax.nn.gelu)  # <- cause, call 2
