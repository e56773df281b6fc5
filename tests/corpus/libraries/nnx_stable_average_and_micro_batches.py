# cause: stable
# reason: gradients are applied every second batch, and the average of the weights is evaluated

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Linear(4, 8, rngs=rngs)
        self.dropout = nnx.Dropout(0.1, rngs=rngs)
        self.last = nnx.Linear(8, 3, rngs=rngs)

    def __call__(self, x):
        return self.last(self.dropout(nnx.relu(self.first(x))))


@nnx.jit
def train_step(model, optimizer, x, y):
    def loss_fn(model):
        return optax.softmax_cross_entropy_with_integer_labels(model(x), y).mean()

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


@nnx.jit
def follow(average, model, decay):
    params = nnx.state(model, nnx.Param)
    mixed = jax.tree.map(lambda a, p: decay * a + (1 - decay) * p,
                         nnx.state(average, nnx.Param), params)
    nnx.update(average, mixed)


@nnx.jit
def evaluate(model, x, y):
    return jnp.mean(jnp.argmax(model(x), -1) == y)


model, average = Net(nnx.Rngs(0)), Net(nnx.Rngs(0))
average.eval()
optimizer = nnx.Optimizer(model, optax.MultiSteps(optax.adam(1e-2), 2), wrt=nnx.Param)
x, y = np.ones((12, 4), np.float32), np.arange(12, dtype=np.int32) % 3
for epoch in range(2):
    for step, start in enumerate(range(0, 12, 3)):
        loss = train_step(model, optimizer, x[start:start + 3], y[start:start + 3])
        follow(average, model, jnp.asarray(min(0.9, (1 + step) / (10 + step)), jnp.float32))
    print(epoch, float(loss), float(evaluate(average, x, y)))
