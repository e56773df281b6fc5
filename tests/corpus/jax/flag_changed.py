# cause: flag
# subject: xla_cpu_enable_fast_math
# old: unset
# new: true
# run:
# run: XLA_FLAGS=--xla_cpu_enable_fast_math=true

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(x):
    return jnp.exp(x) / 3.0


step(np.ones(8, np.float32))  # <- cause
