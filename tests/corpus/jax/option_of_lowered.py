# cause: option
# subject: xla_cpu_enable_fast_min_max
# old: true
# new: false

import jax
import jax.numpy as jnp
import numpy as np


def step(x):
    return jnp.maximum(jnp.exp(x), 0.5)


lowered = jax.jit(step).lower(np.ones(8, np.float32))
for fast in (True, False):
    lowered.compile({"xla_cpu_enable_fast_min_max": fast})  # <- cause
