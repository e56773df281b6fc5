# cause: flag
# subject: xla_backend_optimization_level
# old: 1
# new: unset
# run: XLA_FLAGS=--xla_backend_optimization_level=1
# run:

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(x):
    return jnp.exp(x) / 3.0


step(np.ones(8, np.float32))  # <- cause
