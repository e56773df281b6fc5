# cause: flag
# subject: xla_cpu_enable_fast_math
# old: unset
# new: true
# and
# cause: constant
# subject: add
# old: 0.5
# new: 0.75
# run: 0.5
# run: XLA_FLAGS=--xla_cpu_enable_fast_math=true 0.75

import sys

import jax
import jax.numpy as jnp
import numpy as np

OFFSET = float(sys.argv[1])


@jax.jit
def step(x):
    return jnp.exp(x) + OFFSET  # <- cause 2


step(np.ones(8, np.float32))  # <- cause, call 2
