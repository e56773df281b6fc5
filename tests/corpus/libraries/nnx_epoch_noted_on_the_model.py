# cause: retrace
# reason: a Python number on the module, which no operation uses, is part of what nnx.jit compares

import jax
import numpy as np
import optax
from flax import nnx


class Regressor(nnx.Module):
    def __init__(self, rngs):
        self.one = nnx.Linear(5, 10, rngs=rngs)
        self.two = nnx.Linear(10, 1, rngs=rngs)
        self.epoch = 0  # for the log

    def __call__(self, x):
        return self.two(nnx.tanh(self.one(x)))


@nnx.jit
def train_step(model, optimizer, x, y):
    def loss_fn(model):
        return ((model(x) - y) ** 2).mean()

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


rng = np.random.default_rng(0)
model = Regressor(nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.sgd(0.05), wrt=nnx.Param)
data = [rng.normal(size=(8, 5)).astype(np.float32) for _ in range(3)]
for epoch in range(3):
    model.epoch = epoch
    for x in data:
        loss = train_step(model, optimizer, x, x[:, :1])  # <- cause
    print(f"epoch {model.epoch}: {float(loss):.4f}")
