# cause: shape
# subject: x
# old: f32[8]
# new: f32[4]
# reason: a method of the jitted function's name calls it

import jax
import jax.numpy as jnp
import numpy as np


class Trainer:
    def __init__(self):
        @jax.jit
        def step(x):
            return jnp.exp(x).sum() * 2

        self.jitted = step

    def step(self, x):
        return self.jitted(x)  # <- cause

    def fit(self, sizes):
        for size in sizes:
            self.step(np.ones(size, np.float32))  # <- call


Trainer().fit((8, 8, 4))
