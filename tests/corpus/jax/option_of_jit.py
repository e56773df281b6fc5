# cause: option
# subject: xla_cpu_enable_fast_math
# old: unset
# new: true

import jax
import jax.numpy as jnp
import numpy as np


def step(x):
    return jnp.exp(x) / 3.0


x = np.ones(8, np.float32)
jax.jit(step)(x)
jax.jit(step, compiler_options={"xla_cpu_enable_fast_math": True})(x)  # <- cause
