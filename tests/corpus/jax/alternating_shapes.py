# cause: retrace
# pattern: alternating
# reason: both programs are in memory, so each call asks again for one that is known

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(x):
    return jnp.sum(jnp.exp(x))


for size in (8, 16, 8, 16, 8, 16):
    jax.clear_caches()
    step(np.ones(size, np.float32))  # <- cause
