# cause: retrace
# advice: once
# reason: the loss is a static argument, and each epoch brings a new lambda of the same text

import functools

import jax.numpy as jnp
import numpy as np
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Linear(3, 6, rngs=rngs)
        self.second = nnx.Linear(6, 1, rngs=rngs)

    def __call__(self, x):
        return self.second(nnx.gelu(self.first(x)))[:, 0]


@functools.partial(nnx.jit, static_argnames="loss")
def evaluate(model, x, y, loss):
    return loss(model(x), y)


class Report:
    def __init__(self, model):
        self.model, self.rows = model, []

    def add(self, x, y):
        value = evaluate(self.model, x, y, loss=lambda out, y: jnp.mean(jnp.abs(out - y)))  # <- cause
        self.rows.append(float(value))


report = Report(nnx.jit(Net)(nnx.Rngs(0)))
for epoch in range(3):
    report.add(np.full((4, 3), epoch, np.float32), np.zeros(4, np.float32))
