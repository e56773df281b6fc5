# cause: precision
# subject: jax_default_matmul_precision
# old: unset
# new: 'highest'

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(w, x):
    return jnp.tanh(x @ w)  # <- cause


w, x = np.ones((4, 3), np.float32), np.ones((2, 4), np.float32)
step(w, x)
jax.config.update("jax_default_matmul_precision", "highest")
step(w, x)  # <- call
