# cause: dtype
# subject: model.layers[0].weight
# old: f32[8,4]
# new: bf16[8,4]

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


def to_half(leaf):
    return np.asarray(leaf).astype(jnp.bfloat16) if eqx.is_inexact_array(leaf) else leaf


@eqx.filter_jit
def forward(model, x):
    return jax.vmap(model)(x)


model = eqx.nn.MLP(4, 2, 8, 1, key=jax.random.key(0))
x = np.ones((3, 4), np.float32)
forward(model, x)
model = jax.tree.map(to_half, model)
forward(model, x)  # <- cause
