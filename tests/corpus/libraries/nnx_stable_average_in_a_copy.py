# cause: stable
# reason: an average of the weights is a state of its own; the number of steps is a variable of the module

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Count(nnx.Variable):
    pass


class Forecaster(nnx.Module):
    def __init__(self, rngs):
        self.cell = nnx.Linear(3, 6, rngs=rngs)
        self.out = nnx.Linear(6, 1, rngs=rngs)
        self.seen = Count(jnp.asarray(0, jnp.int32))

    def __call__(self, x):
        self.seen[...] = self.seen[...] + 1
        return self.out(nnx.tanh(self.cell(x)))


@nnx.jit
def train_step(model, optimizer, x, y):
    def loss_fn(model):
        return jnp.mean((model(x) - y) ** 2)

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


@jax.jit
def follow(average, weights, decay):
    return jax.tree.map(lambda a, w: decay * a + (1 - decay) * w, average, weights)


@nnx.jit
def create():
    return Forecaster(nnx.Rngs(0))


model = create()
optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)
average = nnx.state(model, nnx.Param)
rng = np.random.default_rng(0)
for step in range(5):
    x = rng.normal(size=(4, 3)).astype(np.float32)
    loss = train_step(model, optimizer, x, x[:, :1])
    average = follow(average, nnx.state(model, nnx.Param), np.float32(1 - 1 / (step + 2)))
print(float(loss), int(model.seen[...]))
