# cause: structure
# reason: the first test ran before model.eval() was called, so it used the batch's statistics

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Encoder(nnx.Module):
    def __init__(self, rngs):
        self.lift = nnx.Linear(4, 12, rngs=rngs)
        self.norm = nnx.BatchNorm(12, rngs=rngs)
        self.head = nnx.Linear(12, 3, rngs=rngs)

    def __call__(self, x):
        x = self.lift(x)
        x = self.norm(x)  # <- cause
        return self.head(nnx.relu(x))


@nnx.jit
def train_step(model, optimizer, x, labels):
    def loss_fn(model):
        return optax.softmax_cross_entropy_with_integer_labels(model(x), labels).mean()

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


@nnx.jit
def accuracy(model, x, labels):
    return (model(x).argmax(-1) == labels).mean()


def data(seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(16, 4)).astype(np.float32), rng.integers(0, 3, 16).astype(np.int32)


model = nnx.jit(lambda: Encoder(nnx.Rngs(0)))()
optimizer = nnx.Optimizer(model, optax.sgd(0.05), wrt=nnx.Param)
print("before training", float(accuracy(model, *data(100))))
for epoch in range(3):
    model.train()
    for index in range(2):
        train_step(model, optimizer, *data(10 * epoch + index))
    model.eval()
    print(epoch, float(accuracy(model, *data(100))))
