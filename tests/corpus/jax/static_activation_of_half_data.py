# cause: structure
# subject: activation
# old: tanh...
# new: call...
# reason: relu is a function of its own, and its gradient further operations

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames="activation")
def step(w, x, activation):
    def loss(w):
        hidden = activation(x @ w)  # <- cause
        return ((hidden - x) ** 2).mean()

    return w - 0.1 * jax.grad(loss)(w)


w, x = np.ones((8, 8), np.float32), np.ones((4, 8), np.float16)
step(w, x, activation=jnp.tanh)
step(w, x, activation=jax.nn.relu)  # <- call
