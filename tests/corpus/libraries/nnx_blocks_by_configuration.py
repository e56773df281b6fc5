# cause: arguments
# subject: model.blocks...
# old: absent
# reason: the larger configuration has one block more, all of one width

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Block(nnx.Module):
    def __init__(self, width, rngs):
        self.norm = nnx.LayerNorm(width, rngs=rngs)
        self.dense = nnx.Linear(width, width, rngs=rngs)

    def __call__(self, x):
        return x + nnx.gelu(self.dense(self.norm(x)))


class Net(nnx.Module):
    def __init__(self, depth, rngs):
        self.blocks = nnx.List([Block(6, rngs) for _ in range(depth)])
        self.head = nnx.Linear(6, 2, rngs=rngs)

    def __call__(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


@nnx.jit
def loss(model, x, y):
    return optax.l2_loss(model(x), y).mean()


x, y = np.ones((4, 6), np.float32), np.zeros((4, 2), np.float32)
for depth in (2, 3):
    model = Net(depth, nnx.Rngs(0))
    loss(model, jnp.asarray(x), y)  # <- cause
