# cause: arguments
# subject: extras['noise']
# old: absent
# new: f32[4]

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(x, extras):
    for value in extras.values():
        x = x + value
    return jnp.exp(x)


ones = np.ones(4, np.float32)
step(ones, {})
step(ones, {"noise": ones})  # <- cause
