# cause: constant
# subject: sampler.temperature
# old: 1.5
# new: 2.5
# reason: a Python number that a module holds is part of its static graph

import numpy as np
from flax import nnx


class Sampler(nnx.Module):
    def __init__(self, rngs):
        self.layer = nnx.Linear(4, 4, rngs=rngs)
        self.temperature = 1.5

    def __call__(self, x):
        hidden = self.layer(x)
        return nnx.softmax(hidden * self.temperature)  # <- cause


@nnx.jit
def sample(sampler, x):
    return sampler(x).max()


sampler = nnx.jit(Sampler)(nnx.Rngs(0))
x = np.ones((2, 4), np.float32)
for temperature in (1.5, 2.5):
    sampler.temperature = temperature
    sample(sampler, x)  # <- call
