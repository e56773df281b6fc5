# cause: shape
# subject: x
# old: f32[8,4]
# new: f32[16,4]

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(x):
    return jnp.sum(jnp.tanh(x))


for rows in (8, 16):
    lowered = step.lower(jax.ShapeDtypeStruct((rows, 4), np.float32))  # <- cause
    lowered.compile()
