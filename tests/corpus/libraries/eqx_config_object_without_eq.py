# cause: retrace
# advice: once | __eq__
# reason: each batch brings a new configuration object that is equal to no other

import equinox as eqx
import jax
import numpy as np


class Options:
    def __init__(self, scale):
        self.scale = scale


@eqx.filter_jit
def forward(model, x, options):
    return jax.vmap(model)(x) * options.scale


model = eqx.nn.Linear(4, 2, key=jax.random.key(0))
x = np.ones((3, 4), np.float32)
for _ in range(3):
    forward(model, x, Options(0.5))  # <- cause
