# cause: shape
# subject: model.attention...
# reason: the heads of the configuration share the width, so the projections have other shapes

import jax.numpy as jnp
import numpy as np
from flax import nnx


class Block(nnx.Module):
    def __init__(self, heads, rngs):
        self.attention = nnx.MultiHeadAttention(heads, 8, decode=False, rngs=rngs)
        self.out = nnx.Linear(8, 2, rngs=rngs)

    def __call__(self, x):
        return self.out(x + self.attention(x))


@nnx.jit
def forward(model, x):
    return jnp.tanh(model(x)).sum()


x = np.ones((2, 5, 8), np.float32)
for heads in (2, 4):
    model = Block(heads, nnx.Rngs(0))
    forward(model, x)  # <- cause
