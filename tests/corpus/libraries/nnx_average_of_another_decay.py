# cause: constant
# subject: decay
# old: 0.75
# new: 0.875
# reason: the average of the weights forgets more slowly later on; the decay is a Python number

import functools

import jax
import numpy as np
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Linear(4, 6, rngs=rngs)
        self.last = nnx.Linear(6, 2, rngs=rngs)

    def __call__(self, x):
        return self.last(nnx.silu(self.first(x)))


@functools.partial(nnx.jit, static_argnames="decay")
def follow(average, model, decay):
    mixed = jax.tree.map(
        lambda a, p: decay * a + (1 - decay) * p, nnx.state(average), nnx.state(model))  # <- cause
    nnx.update(average, mixed)


model, average = Net(nnx.Rngs(0)), Net(nnx.Rngs(0))
for epoch in range(4):
    follow(average, model, decay=0.75 if epoch < 2 else 0.875)  # <- call
