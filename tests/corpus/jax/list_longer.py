# cause: arguments
# subject: states[2]
# old: absent
# new: f32[4]

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(states, x):
    for state in states:
        x = x * state
    return jnp.sum(x)


ones = np.ones(4, np.float32)
step([ones, ones], ones)
step([ones, ones, ones], ones)  # <- cause
