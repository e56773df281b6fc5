# cause: dtype
# subject: model.layer1.bias...
# old: f32[8]
# new: bf16[8]

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.layer1 = nnx.Linear(4, 8, rngs=rngs)
        self.layer2 = nnx.Linear(8, 1, rngs=rngs)

    def __call__(self, x):
        return self.layer2(nnx.relu(self.layer1(x)))


def to_half(model):
    graphdef, state = nnx.split(model)
    half = jax.tree.map(lambda p: np.asarray(p).astype(jnp.bfloat16), state)
    return nnx.merge(graphdef, half)


@nnx.jit
def infer(model, x):
    return model(x)


model = nnx.jit(Net)(nnx.Rngs(0))
x = np.ones((2, 4), np.float32)
infer(model, x)
infer(to_half(model), x)  # <- cause
