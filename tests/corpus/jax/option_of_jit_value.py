# cause: option
# subject: xla_backend_optimization_level
# old: 1
# new: 2

import jax
import jax.numpy as jnp
import numpy as np


def step(x):
    return jnp.exp(x) / 3.0


x = np.ones(8, np.float32)
for level in (1, 2):
    jax.jit(step, compiler_options={"xla_backend_optimization_level": level})(x)  # <- cause
