# cause: retrace
# advice: Jit the function once
# program: jit__lambda

import jax
import jax.numpy as jnp
import numpy as np

x = np.ones(8, np.float32)
for _ in range(3):
    jax.jit(lambda v: jnp.tanh(v) * 2.0)(x)  # <- cause
