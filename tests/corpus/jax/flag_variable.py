# cause: flag
# subject: ONEDNN_DEFAULT_FPMATH_MODE
# old: unset
# new: BF16
# run:
# run: ONEDNN_DEFAULT_FPMATH_MODE=BF16

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(x):
    return jnp.exp(x) / 3.0


step(np.ones(8, np.float32))  # <- cause
