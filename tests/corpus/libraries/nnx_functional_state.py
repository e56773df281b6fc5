# cause: shape
# subject: x
# old: f32[4,3]
# new: f32[1,3]

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.layer = nnx.Linear(3, 3, rngs=rngs)

    def __call__(self, x):
        return nnx.sigmoid(self.layer(x))


graphdef, state = nnx.split(nnx.jit(Net)(nnx.Rngs(0)))


@jax.jit
def forward(state, x):
    model = nnx.merge(graphdef, state)
    return model(x).mean()


def serve(rows):
    return forward(state, np.stack(rows))  # <- cause


row = np.ones(3, np.float32)
serve([row, row, row, row])
serve([row])
