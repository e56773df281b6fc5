# cause: weak_type
# subject: scale
# old: f32[]
# new: weak f32[]
# advice: asarray | array
# reason: beside a bfloat16 activation a Python number gives way, an array does not

import jax.numpy as jnp
import numpy as np
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.layer = nnx.Linear(4, 3, dtype=jnp.bfloat16, rngs=rngs)

    def __call__(self, x, scale):
        return nnx.relu(self.layer(x)) * scale


@nnx.jit
def forward(model, x, scale):
    return model(x, scale).sum()


model = nnx.jit(Net)(nnx.Rngs(0))
x = np.ones((2, 4), np.float32)
forward(model, x, np.float32(0.5))
forward(model, x, 0.5)  # <- cause
