# cause: weak_type
# subject: average['m']
# old: weak f32[4]
# new: f32[4]

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(average, x):
    return {"m": 0.9 * average["m"] + 0.1 * x}


average, x = {"m": jnp.full(4, 0.0)}, np.ones(4, np.float32)
for _ in range(2):
    average = step(average, x)  # <- cause
