# cause: dtype
# subject: jax_enable_x64
# old: unset
# new: True
# reason: the argument keeps its type; the positions made inside are wider

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(x):
    positions = jnp.arange(8)  # <- cause
    return x[positions % 3]


x = np.ones(8, np.float32)
step(x)
with jax.enable_x64(True):
    step(x)  # <- call
