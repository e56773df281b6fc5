# cause: structure
# subject: dot_general
# old: 2 times
# new: 3 times

import jax
import jax.numpy as jnp
import numpy as np


def make_step(depth):
    def step(w, x):
        for _ in range(depth):
            x = jnp.tanh(x @ w)  # <- cause
        return x.sum()
    return jax.jit(step)


w, x = np.ones((4, 4), np.float32), np.ones((2, 4), np.float32)
make_step(2)(w, x)
make_step(3)(w, x)  # <- call
