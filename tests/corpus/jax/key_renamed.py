# cause: retrace
# advice: same keys
# reason: the name of a key is not part of what is computed

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(batch):
    return sum(jnp.sum(value * 2.0) for value in batch.values())


ones = np.ones(8, np.float32)
step({"x": ones})
step({"input": ones})  # <- cause
