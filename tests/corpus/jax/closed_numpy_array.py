# cause: constant
# subject: scaler.scale
# old: 0
# new: 1

import jax
import numpy as np


class Scaler:
    def __init__(self, scale):
        self.scale = scale

    def apply(self, x):
        return x * self.scale  # <- cause


def make_step(scaler):
    def step(x):
        return scaler.apply(x).sum()
    return jax.jit(step)


x = np.ones(8, np.float32)
make_step(Scaler(np.arange(8, dtype=np.float32)))(x)
make_step(Scaler(np.arange(8, dtype=np.float32) + 1))(x)  # <- call
