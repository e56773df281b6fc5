# cause: donation
# subject: params['b']
# old: kept
# new: donated

import jax
import jax.numpy as jnp
import numpy as np


def step(params, x):
    return jax.tree.map(lambda p: p * 0.9 + x.sum(), params)


def build():
    return {"b": jnp.ones(4), "w": jnp.ones((4, 4))}


x = np.ones(4, np.float32)
jax.jit(step)(build(), x)
jax.jit(step, donate_argnums=0)(build(), x)  # <- cause
