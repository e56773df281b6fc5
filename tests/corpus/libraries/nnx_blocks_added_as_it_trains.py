# cause: structure
# old: 2 times
# new: 3 times
# reason: the network is one block deeper in the second phase; its weights come with it

import jax
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


class Stack(nnx.Module):
    def __init__(self, depth, rngs):
        self.enter = nnx.Linear(5, 16, rngs=rngs)
        self.blocks = nnx.List([Block(16, rngs) for _ in range(depth)])
        self.leave = nnx.Linear(16, 1, rngs=rngs)

    def __call__(self, x):
        x = self.enter(x)
        for block in self.blocks:
            x = block(x)  # <- cause
        return self.leave(x)[:, 0]


@nnx.jit
def predict(model, x):
    return model(x)


def evaluate(model, rows):
    return float(np.mean([(np.asarray(predict(model, x)) - x.sum(1)) ** 2 for x in rows]))


rngs = nnx.Rngs(4)
model = Stack(2, rngs)
rows = np.random.default_rng(6).normal(size=(4, 8, 5)).astype(np.float32)
print("two blocks", evaluate(model, rows))
model.blocks.append(Block(16, rngs))
print("three blocks", evaluate(model, rows))
