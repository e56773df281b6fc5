# cause: option
# subject: optimization_level
# old: unset
# new: 19

import jax
import jax.numpy as jnp
import numpy as np


def step(x):
    return jnp.exp(x) / 3.0


x = np.ones(8, np.float32)
jax.jit(step)(x)
jax.config.update("jax_optimization_level", "O1")
jax.clear_caches()
jax.jit(step)(x)  # <- cause
