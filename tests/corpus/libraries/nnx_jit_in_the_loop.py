# cause: retrace
# advice: once | partial in the loop | __eq__

import jax.numpy as jnp
import numpy as np
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.layer = nnx.Linear(4, 4, rngs=rngs)

    def __call__(self, x):
        return nnx.silu(self.layer(x))


def score(model, x):
    return jnp.mean(model(x))


model = nnx.jit(Net)(nnx.Rngs(0))
x = np.ones((2, 4), np.float32)
for _ in range(3):
    compiled = nnx.jit(lambda model, x: score(model, x))
    compiled(model, x)  # <- cause
