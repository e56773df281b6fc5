# cause: flag
# subject: xla_cpu_enable_fast_math
# old: unset
# new: true
# program: jit_train_step
# run: XLA_FLAGS=
# run: XLA_FLAGS=--xla_cpu_enable_fast_math=true
# reason: the job script of the second run sets a flag for speed

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Regressor(nnx.Module):
    def __init__(self, rngs):
        self.layers = nnx.List([nnx.Linear(5, 8, rngs=rngs), nnx.Linear(8, 8, rngs=rngs)])
        self.mean = nnx.Linear(8, 1, rngs=rngs)
        self.deviation = nnx.Linear(8, 1, rngs=rngs)

    def __call__(self, x):
        for layer in self.layers:
            x = nnx.silu(layer(x))
        return self.mean(x)[:, 0], nnx.softplus(self.deviation(x))[:, 0] + 1e-3


@nnx.jit
def train_step(model, optimizer, x, y):
    def loss_fn(model):
        mean, deviation = model(x)
        return jnp.mean(0.5 * ((y - mean) / deviation) ** 2 + jnp.log(deviation))

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


model = nnx.jit(lambda: Regressor(nnx.Rngs(0)))()
optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)
x, y = np.ones((6, 5), np.float32), np.ones(6, np.float32)
for _ in range(3):
    train_step(model, optimizer, x, y)  # <- cause
