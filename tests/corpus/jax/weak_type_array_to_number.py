# cause: weak_type
# subject: rate
# old: f32[]
# new: weak f32[]

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(params, rate):
    return jax.tree.map(lambda p: p - rate * jnp.sign(p), params)


params = {"w": np.ones(8, np.float16)}
step(params, np.float32(0.1))
step(params, 0.1)  # <- cause
