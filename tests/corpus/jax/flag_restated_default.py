# cause: flag
# subject: xla_cpu_enable_fast_math
# old: unset
# new: false
# reason: which value a plugin has by default cannot be known from outside, so a restated default counts as a change
# run:
# run: XLA_FLAGS=--xla_cpu_enable_fast_math=false

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(x):
    return jnp.exp(x) / 3.0


step(np.ones(8, np.float32))
