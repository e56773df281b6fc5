# cause: constant
# subject: step_size
# old: -0.1
# new: -0.02
# reason: the rate of optax.sgd is a Python number, which is part of each new optimizer

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.conv = nnx.Conv(1, 4, kernel_size=(3, 3), rngs=rngs)
        self.out = nnx.Linear(4, 3, rngs=rngs)

    def __call__(self, images):
        x = nnx.relu(self.conv(images)).mean((1, 2))
        return self.out(x)


@nnx.jit
def train_step(model, optimizer, images, labels):
    def loss_fn(model):
        return optax.softmax_cross_entropy_with_integer_labels(model(images), labels).mean()

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)  # <- cause
    return loss


def fit(model, rate, epochs, rng):
    optimizer = nnx.Optimizer(model, optax.sgd(rate), wrt=nnx.Param)
    for _ in range(epochs):
        images = rng.random((8, 7, 7, 1)).astype(np.float32)
        labels = rng.integers(0, 3, 8).astype(np.int32)
        loss = train_step(model, optimizer, images, labels)  # <- call
    return float(loss)


rng = np.random.default_rng(5)
model = nnx.jit(lambda: Net(nnx.Rngs(3)))()
print("coarse", fit(model, 0.1, 3, rng))
print("fine", fit(model, 0.02, 3, rng))
