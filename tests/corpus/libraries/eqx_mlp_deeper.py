# cause: arguments
# subject: model.layers[3].weight
# old: absent
# new: f32[8,8]
# reason: the last layer keeps its shape and moves up by one

import equinox as eqx
import jax
import numpy as np


@eqx.filter_jit
def forward(model, x):
    return jax.vmap(model)(x)


x = np.ones((3, 8), np.float32)
for depth in (2, 3):
    model = eqx.nn.MLP(8, 8, 8, depth, key=jax.random.key(0))
    forward(model, x)  # <- cause
