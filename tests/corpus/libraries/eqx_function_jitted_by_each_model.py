# cause: retrace
# subject: model.decode
# reason: each model jits its decoder in the constructor; filter_jit compares that function by identity

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


def sharpen(x):
    return jnp.tanh(3 * x)


class Model(eqx.Module):
    weight: jax.Array
    decode: object

    def __init__(self, scale):
        self.weight = jnp.full((5,), scale)
        self.decode = jax.jit(sharpen)


@eqx.filter_jit
def evaluate(model, x):
    return model.decode(x * model.weight).sum()


x = np.ones(5, np.float32)
for scale in (0.5, 1.5):
    evaluate(Model(scale), x)  # <- cause
