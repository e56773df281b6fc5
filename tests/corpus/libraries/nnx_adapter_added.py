# cause: arguments
# subject: model.layer...
# old: absent
# reason: the layer is replaced by one with low-rank weights beside its own

import jax.numpy as jnp
import numpy as np
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.layer = nnx.Linear(4, 6, rngs=rngs)
        self.head = nnx.Linear(6, 2, rngs=rngs)

    def __call__(self, x):
        return self.head(nnx.relu(self.layer(x)))


@nnx.jit
def predict(model, x):
    return jnp.argmax(model(x), -1)


model = Net(nnx.Rngs(0))
x = np.ones((3, 4), np.float32)
predict(model, x)
model.layer = nnx.LoRA(4, 2, 6, base_module=model.layer, rngs=nnx.Rngs(1))
predict(model, x)  # <- cause
