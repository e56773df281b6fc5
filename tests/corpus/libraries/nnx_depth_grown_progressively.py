# cause: structure
# reason: one block more is run in each stage; the model has all of them from the start

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Generator(nnx.Module):
    def __init__(self, width, blocks, rngs):
        self.stem = nnx.Linear(4, width, rngs=rngs)
        self.blocks = nnx.List([nnx.Linear(width, width, rngs=rngs) for _ in range(blocks)])
        self.out = nnx.Linear(width, 3, rngs=rngs)
        self.active = 1

    def __call__(self, z):
        x = nnx.tanh(self.stem(z))
        for block in self.blocks[: self.active]:
            x = x + nnx.gelu(block(x))  # <- cause
        return self.out(x)


@nnx.jit
def train_step(model, optimizer, z, target):
    def loss_fn(model):
        return jnp.mean((model(z) - target) ** 2)

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


model = nnx.jit(lambda: Generator(8, 3, nnx.Rngs(0)))()
optimizer = nnx.Optimizer(model, optax.sgd(1e-2), wrt=nnx.Param)
rng = np.random.default_rng(0)
for stage in range(1, 4):
    model.active = stage
    for _ in range(2):
        z = rng.normal(size=(5, 4)).astype(np.float32)
        loss = train_step(model, optimizer, z, np.ones((5, 3), np.float32))  # <- call
    print(f"{stage} blocks: {float(loss):.3f}")
