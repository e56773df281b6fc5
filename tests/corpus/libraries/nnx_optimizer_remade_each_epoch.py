# cause: retrace
# advice: once | partial in the loop | __eq__
# reason: the optimizer's tx is static, and a new optax.sgd is equal to no other

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Linear(nnx.Module):
    def __init__(self, rngs):
        self.layer = nnx.Linear(4, 2, rngs=rngs)

    def __call__(self, x):
        return self.layer(x)


@nnx.jit
def train_step(model, optimizer, x):
    grads = nnx.grad(lambda model: jnp.mean(model(x) ** 2))(model)
    optimizer.update(model, grads)


model = nnx.jit(Linear)(nnx.Rngs(0))
x = np.ones((3, 4), np.float32)
for epoch in range(3):
    optimizer = nnx.Optimizer(model, optax.sgd(1e-2), wrt=nnx.Param)
    for _ in range(2):
        train_step(model, optimizer, x)  # <- cause
