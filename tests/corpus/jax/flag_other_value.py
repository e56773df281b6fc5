# cause: flag
# subject: xla_cpu_prefer_vector_width
# old: 128
# new: 256
# run: XLA_FLAGS=--xla_cpu_prefer_vector_width=128
# run: XLA_FLAGS=--xla_cpu_prefer_vector_width=256

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(x):
    return jnp.exp(x) / 3.0


step(np.ones(8, np.float32))  # <- cause
