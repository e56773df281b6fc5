# cause: constant
# subject: compare
# old: 4
# new: 8
# reason: how far back a token may look is a Python number of the block, so a part of the mask's comparison

import jax.numpy as jnp
import numpy as np
from flax import nnx


class Block(nnx.Module):
    def __init__(self, width, window, rngs):
        self.window = window
        self.norm = nnx.LayerNorm(width, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(2, width, decode=False, rngs=rngs)
        self.up = nnx.Linear(width, 2 * width, rngs=rngs)
        self.down = nnx.Linear(2 * width, width, rngs=rngs)

    def __call__(self, x):
        places = jnp.arange(x.shape[1])
        distance = places[:, None] - places[None, :]
        near = (distance >= 0) & (distance < self.window)  # <- cause
        x = x + self.attention(self.norm(x), mask=near[None, None])
        return x + self.down(nnx.gelu(self.up(x)))


@nnx.jit
def loss(block, x, y):
    return jnp.mean((block(x) - y) ** 2)


x = np.ones((2, 12, 8), np.float32)
block = nnx.jit(lambda: Block(8, 4, nnx.Rngs(0)))()
for window in (4, 8):
    block.window = window
    for _ in range(2):
        loss(block, x, x)  # <- call
