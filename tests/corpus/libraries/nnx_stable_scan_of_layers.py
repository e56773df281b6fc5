# cause: stable

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx


class Block(nnx.Module):
    def __init__(self, rngs):
        self.linear = nnx.Linear(4, 4, rngs=rngs)

    def __call__(self, x):
        return x + nnx.tanh(self.linear(x))


@nnx.split_rngs(splits=3)
@nnx.vmap(in_axes=(0,), out_axes=0)
def make_blocks(rngs):
    return Block(rngs)


@nnx.jit
def forward(blocks, x):
    @nnx.scan(in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)
    def run(x, block):
        return block(x)

    return run(x, blocks)


blocks = make_blocks(nnx.Rngs(0))
for _ in range(3):
    y = forward(blocks, np.ones((2, 4), np.float32))
print(y.shape)
