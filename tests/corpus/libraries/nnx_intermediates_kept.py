# cause: arguments
# subject: model.activity...
# old: absent
# reason: sow keeps what it was given at each call, so the model has one array more after each

import jax.numpy as jnp
import numpy as np
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.hidden = nnx.Linear(4, 8, rngs=rngs)
        self.out = nnx.Linear(8, 1, rngs=rngs)

    def __call__(self, x):
        hidden = nnx.relu(self.hidden(x))
        self.sow(nnx.Intermediate, "activity", hidden.mean(0))
        return self.out(hidden)


@nnx.jit
def forward(model, x):
    return jnp.mean(model(x))


model = Net(nnx.Rngs(0))
x = np.ones((3, 4), np.float32)
for _ in range(3):
    forward(model, x)  # <- cause
