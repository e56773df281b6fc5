# cause: structure
# reason: model.eval() makes the dropout deterministic, which is part of the static graph

import jax.numpy as jnp
import numpy as np
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.hidden = nnx.Linear(4, 8, rngs=rngs)
        self.dropout = nnx.Dropout(0.4, rngs=rngs)
        self.out = nnx.Linear(8, 2, rngs=rngs)

    def __call__(self, x):
        x = nnx.relu(self.hidden(x))
        x = self.dropout(x)  # <- cause
        return self.out(x)


@nnx.jit
def loss(model, x, y):
    return jnp.mean((model(x) - y) ** 2)


model = Net(nnx.Rngs(0))
x, y = np.ones((4, 4), np.float32), np.ones((4, 2), np.float32)
model.train()
loss(model, x, y)
model.eval()
loss(model, x, y)  # <- call
