# cause: constant
# old: 2.0
# new: 3.0

import distrax
import jax
import numpy as np


class Observation:
    def __init__(self, noise):
        self.noise = noise
        self.score = jax.jit(self._score)

    def _score(self, x):
        return distrax.ScalarAffine(shift=1.0, scale=self.noise).forward(x)  # <- cause


x = np.ones(5, np.float32)
for noise in (2.0, 3.0):
    Observation(noise).score(x)  # <- call
