# cause: constant
# subject: number
# old: 3
# new: 4
# pattern: counter
# advice: asarray | array

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


class Warmup(eqx.Module):
    linear: eqx.nn.Linear
    length: float

    def __call__(self, x, number):
        scale = jnp.minimum(1.0, number / self.length)  # <- cause
        return scale * self.linear(x)


@eqx.filter_jit
def forward(model, x, number):
    return jax.vmap(model, in_axes=(0, None))(x, number).sum()


model = Warmup(eqx.nn.Linear(4, 2, key=jax.random.key(0)), 10.0)
x = np.ones((3, 4), np.float32)
for number in range(1, 5):
    forward(model, x, number)  # <- call
