# cause: shape
# subject: model.head.bias...
# old: f32[4]
# new: f32[9]

import jax.numpy as jnp
import numpy as np
from flax import nnx


class Classifier(nnx.Module):
    def __init__(self, classes, rngs):
        self.trunk = nnx.Linear(6, 8, rngs=rngs)
        self.head = nnx.Linear(8, classes, rngs=rngs)

    def __call__(self, x):
        return self.head(nnx.tanh(self.trunk(x)))


@nnx.jit
def logits(model, x):
    return model(x)


make_head = nnx.jit(lambda rngs: nnx.Linear(8, 9, rngs=rngs))
model = nnx.jit(Classifier, static_argnums=0)(4, nnx.Rngs(0))
x = np.ones((3, 6), np.float32)
logits(model, x)
model.head = make_head(nnx.Rngs(1))
logits(model, x)  # <- cause
