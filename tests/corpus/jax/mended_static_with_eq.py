# cause: none
# reason: advice of retrace: static values with __eq__ and __hash__

import dataclasses
import functools

import jax
import numpy as np


@dataclasses.dataclass(frozen=True)
class Config:
    rate: float


@functools.partial(jax.jit, static_argnames="config")
def step(x, config):
    return x * config.rate


x = np.ones(8, np.float32)
for _ in range(3):
    step(x, Config(0.5))
