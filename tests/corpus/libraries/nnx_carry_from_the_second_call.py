# cause: arguments
# subject: carry
# old: absent
# new: f32[2,5]
# reason: the first segment starts with no state, the next one with what the last one left

import jax.numpy as jnp
import numpy as np
from flax import nnx


class Recurrent(nnx.Module):
    def __init__(self, rngs):
        self.inputs = nnx.Linear(3, 5, rngs=rngs)
        self.hidden = nnx.Linear(5, 5, rngs=rngs)

    def __call__(self, x, carry):
        if carry is None:
            carry = jnp.zeros((x.shape[0], 5))
        for t in range(x.shape[1]):
            carry = jnp.tanh(self.inputs(x[:, t]) + self.hidden(carry))
        return carry


@nnx.jit
def run(model, x, carry=None):
    return model(x, carry)


model = Recurrent(nnx.Rngs(0))
segments = np.ones((3, 2, 2, 3), np.float32)
carry = None
for segment in segments:
    carry = run(model, segment, carry)  # <- cause
