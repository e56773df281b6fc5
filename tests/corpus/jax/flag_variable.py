# cause: flag
# subject: TPU_MEGACORE
# old: unset
# new: 1
# run:
# run: TPU_MEGACORE=1

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(x):
    return jnp.exp(x) / 3.0


step(np.ones(8, np.float32))  # <- cause
