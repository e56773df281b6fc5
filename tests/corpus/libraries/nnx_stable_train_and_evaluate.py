# cause: stable
# reason: two functions for the two modes, all batches of one size, metrics reset without another shape

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Block(nnx.Module):
    def __init__(self, width, rngs):
        self.linear = nnx.Linear(width, width, rngs=rngs)
        self.norm = nnx.BatchNorm(width, rngs=rngs)
        self.dropout = nnx.Dropout(0.2, rngs=rngs)

    def __call__(self, x):
        return x + self.dropout(nnx.relu(self.norm(self.linear(x))))


class Network(nnx.Module):
    def __init__(self, rngs):
        self.start = nnx.Linear(6, 12, rngs=rngs)
        self.first, self.second = Block(12, rngs), Block(12, rngs)
        self.end = nnx.Linear(12, 3, rngs=rngs)

    def __call__(self, x):
        return self.end(self.second(self.first(self.start(x))))


def cross_entropy(model, x, labels):
    return optax.softmax_cross_entropy_with_integer_labels(model(x), labels).mean()


@nnx.jit
def train_step(model, optimizer, x, labels):
    loss, grads = nnx.value_and_grad(cross_entropy)(model, x, labels)
    optimizer.update(model, grads)
    return loss


@nnx.jit
def evaluate_step(model, x, labels):
    return jnp.mean(jnp.argmax(model(x), axis=-1) == labels)


def create():
    model = Network(nnx.Rngs(0, dropout=1))
    return model, nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)


model, optimizer = nnx.jit(create)()
rng = np.random.default_rng(0)
x = rng.normal(size=(32, 6)).astype(np.float32)
labels = rng.integers(0, 3, 32).astype(np.int32)
for epoch in range(3):
    model.train()
    for start in range(0, 32, 8):
        loss = train_step(model, optimizer, x[start:start + 8], labels[start:start + 8])
    model.eval()
    print(epoch, float(loss), float(evaluate_step(model, x[:8], labels[:8])))
