# cause: retrace
# advice: !jax.jit in the loop
# reason: a Python number of the module counts the calls; it is static, so each step has another graph and the same program

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.hidden = nnx.Linear(4, 8, rngs=rngs)
        self.out = nnx.Linear(8, 1, rngs=rngs)
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        return self.out(nnx.relu(self.hidden(x)))


@nnx.jit
def train_step(model, optimizer, x):
    loss, grads = nnx.value_and_grad(lambda model: jnp.mean(model(x) ** 2))(model)
    optimizer.update(model, grads)
    return loss


model = Net(nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.sgd(1e-2), wrt=nnx.Param)
x = np.ones((3, 4), np.float32)
for _ in range(4):
    train_step(model, optimizer, x)  # <- cause
