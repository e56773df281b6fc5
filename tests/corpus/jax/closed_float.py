# cause: constant
# subject: rate
# old: 0.1
# new: 0.01

import jax
import jax.numpy as jnp
import numpy as np


def make_step(rate):
    @jax.jit
    def step(w, x):
        grad = jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
        return w - rate * grad  # <- cause
    return step


w, x = np.ones(4, np.float32), np.ones((8, 4), np.float32)
make_step(0.1)(w, x)
make_step(0.01)(w, x)  # <- call
