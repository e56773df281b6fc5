# cause: shape
# subject: model.layers[0].weight
# old: f32[8,4]
# new: f32[12,4]
# program: jit_forward

import equinox as eqx
import jax
import numpy as np


@eqx.filter_jit
def forward(model, x):
    return jax.vmap(model)(x)


def trial(width):
    model = eqx.filter_jit(eqx.nn.MLP)(4, 2, width, 1, key=jax.random.key(0))
    return forward(model, x)  # <- cause


x = np.ones((3, 4), np.float32)
trial(8)
trial(12)
