# cause: flag
# subject: xla_cpu_enable_fast_math
# old: unset
# new: false
# reason: the default values of a plugin cannot be known, so a restated one counts as a change
# run:
# run: XLA_FLAGS=--xla_cpu_enable_fast_math=false

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(x):
    return jnp.exp(x) / 3.0


step(np.ones(8, np.float32))  # <- cause
