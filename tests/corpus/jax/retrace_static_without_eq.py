# cause: retrace
# advice: __eq__
# reason: the configurations are equal, and their class does not say so

import functools

import jax
import numpy as np


class Config:
    def __init__(self, rate):
        self.rate = rate


@functools.partial(jax.jit, static_argnames="config")
def step(x, config):
    return x * config.rate


x = np.ones(8, np.float32)
for _ in range(3):
    step(x, Config(0.5))  # <- cause
