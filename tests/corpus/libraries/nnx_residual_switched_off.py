# cause: structure
# reason: an ablation takes the connection around the layer away

import jax.numpy as jnp
import numpy as np
from flax import nnx


class Block(nnx.Module):
    def __init__(self, rngs):
        self.norm = nnx.LayerNorm(6, rngs=rngs)
        self.layer = nnx.Linear(6, 6, rngs=rngs)
        self.residual = True

    def __call__(self, x):
        y = nnx.relu(self.layer(self.norm(x)))
        if self.residual:
            y = y + x  # <- cause
        return y


@nnx.jit
def features(model, x):
    return jnp.sqrt(jnp.mean(model(x) ** 2, axis=-1))


model = Block(nnx.Rngs(0))
x = np.ones((3, 6), np.float32)
features(model, x)
model.residual = False
features(model, x)  # <- call
