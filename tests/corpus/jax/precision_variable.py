# cause: precision
# subject: dot_general
# old: DEFAULT
# new: HIGHEST
# run:
# run: JAX_DEFAULT_MATMUL_PRECISION=highest

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(w, x):
    return jnp.tanh(x @ w)  # <- cause


step(np.ones((4, 3), np.float32), np.ones((2, 4), np.float32))  # <- call
