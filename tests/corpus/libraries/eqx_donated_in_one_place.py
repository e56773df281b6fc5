# cause: donation
# subject: model.weight
# old: kept
# new: donated

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


def update(model, x):
    grads = eqx.filter_grad(lambda model: jnp.sum(jax.vmap(model)(x)))(model)
    return jax.tree.map(lambda p, g: p - g, model, grads)


x = np.ones((3, 4), np.float32)
model = eqx.nn.Linear(4, 2, key=jax.random.key(0))
model = eqx.filter_jit(update)(model, x)
model = eqx.filter_jit(update, donate="all")(model, x)  # <- cause
