# cause: constant
# subject: multiply
# old: 0.1
# new: 0.2
# run: 0.1
# run: 0.2

import sys

import jax
import jax.numpy as jnp
import numpy as np

RATE = float(sys.argv[1])


@jax.jit
def step(w, x):
    grad = jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
    return w - RATE * grad  # <- cause


step(np.ones(4, np.float32), np.ones((8, 4), np.float32))  # <- call
