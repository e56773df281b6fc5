# cause: retrace
# program: jit_train_step
# advice: modules
# reason: the second stage names its stream of random numbers; the first has the default one, which dropout takes too

import numpy as np
import optax
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Linear(4, 10, rngs=rngs)
        self.dropout = nnx.Dropout(0.25)
        self.second = nnx.Linear(10, 3, rngs=rngs)

    def __call__(self, x, rngs):
        return self.second(self.dropout(nnx.relu(self.first(x)), rngs=rngs))


@nnx.jit
def train_step(model, optimizer, rngs, x, labels):
    def loss_fn(model, rngs):
        logits = model(x, rngs)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    loss, grads = nnx.value_and_grad(loss_fn)(model, rngs)
    optimizer.update(model, grads)
    return loss


@nnx.jit
def make():
    model = Net(nnx.Rngs(0))
    return model, nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)


def stage(rngs, steps):
    for _ in range(steps):
        loss = train_step(model, optimizer, rngs, x, labels)  # <- cause
    print(float(loss))


model, optimizer = make()
rng = np.random.default_rng(0)
x = rng.normal(size=(6, 4)).astype(np.float32)
labels = np.array([0, 1, 2, 0, 1, 2], np.int32)
stage(nnx.Rngs(1), 2)
stage(nnx.Rngs(dropout=2), 2)
