# cause: retrace
# advice: containers | in every call
# reason: an argument that nothing uses is dropped before the program is made

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(batch):
    return jnp.sum(batch["x"] * 2.0)


ones = np.ones(8, np.float32)
step({"x": ones})
step({"x": ones, "id": ones})  # <- cause
