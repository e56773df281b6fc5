# cause: weak_type
# subject: scale
# old: weak f32[]
# new: f32[]

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(x, scale):
    return x * scale


x = np.ones(8, jnp.bfloat16)
step(x, 2.0)
step(x, np.float32(2.0))  # <- cause
