# cause: dtype
# subject: x
# old: f32[4,6]
# new: f16[4,6]
# and
# cause: constant
# subject: model.norm.epsilon
# reason: the pictures come in half precision, and the norm has a larger epsilon so that it does not vanish

import jax.numpy as jnp
import numpy as np
from flax import nnx


class Net(nnx.Module):
    def __init__(self, epsilon, rngs):
        self.norm = nnx.LayerNorm(6, epsilon=epsilon, rngs=rngs)
        self.out = nnx.Linear(6, 2, rngs=rngs)

    def __call__(self, x):
        hidden = self.norm(x)  # <- cause 2
        return self.out(hidden)


@nnx.jit
def forward(model, x):
    return jnp.argmax(model(x), -1)


for dtype, epsilon in ((np.float32, 1e-6), (np.float16, 1e-3)):
    model = Net(epsilon, nnx.Rngs(0))
    forward(model, np.ones((4, 6), dtype))  # <- cause, call 2
