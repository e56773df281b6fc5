# cause: stable
# reason: new streams of random numbers are made for each epoch and are arguments; metrics are reset between

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Linear(4, 8, rngs=rngs)
        self.norm = nnx.LayerNorm(8, rngs=rngs)
        self.dropout = nnx.Dropout(0.25)
        self.second = nnx.Linear(8, 3, rngs=rngs)

    def __call__(self, x, rngs=None):
        return self.second(self.dropout(nnx.relu(self.norm(self.first(x))), rngs=rngs))


@nnx.jit
def train_step(model, optimizer, metrics, rngs, x, y):
    def loss_fn(model, rngs):
        logits = model(x, rngs)
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean(), logits

    (loss, logits), grads = nnx.value_and_grad(loss_fn, has_aux=True)(model, rngs)
    metrics.update(loss=loss, logits=logits, labels=y)
    optimizer.update(model, grads)


@nnx.jit
def setup(rngs):
    model = Net(rngs)
    return model, nnx.Optimizer(model, optax.adamw(1e-3), wrt=nnx.Param)


model, optimizer = setup(nnx.Rngs(0))
metrics = nnx.MultiMetric(loss=nnx.metrics.Average("loss"), accuracy=nnx.metrics.Accuracy())
x, y = np.ones((6, 4), np.float32), np.array([0, 1, 2, 0, 1, 2], np.int32)
for epoch in range(3):
    rngs = nnx.Rngs(dropout=epoch)
    for _ in range(2):
        train_step(model, optimizer, metrics, rngs, x, y)
    print({name: float(value) for name, value in metrics.compute().items()})
    metrics.reset()
