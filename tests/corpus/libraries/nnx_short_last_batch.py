# cause: shape
# subject: batch['x']
# old: f32[6,5]
# new: f32[2,5]
# advice: pad | drop

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Mlp(nnx.Module):
    def __init__(self, rngs):
        self.hidden = nnx.Linear(5, 8, rngs=rngs)
        self.out = nnx.Linear(8, 2, rngs=rngs)

    def __call__(self, x):
        return self.out(nnx.relu(self.hidden(x)))


@nnx.jit
def train_step(model, optimizer, batch):
    def loss_fn(model):
        return jnp.mean((model(batch["x"]) - batch["y"]) ** 2)

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


model = nnx.jit(Mlp)(nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)
data = {"x": np.ones((14, 5), np.float32), "y": np.ones((14, 2), np.float32)}
for start in range(0, 14, 6):
    batch = {name: column[start:start + 6] for name, column in data.items()}
    train_step(model, optimizer, batch)  # <- cause
