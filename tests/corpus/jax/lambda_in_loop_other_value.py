# cause: constant
# program: jit__lambda
# subject: rate
# old: 0.2
# new: 0.4

import jax
import jax.numpy as jnp
import numpy as np

x = np.ones(8, np.float32)
for rate in (0.1, 0.2, 0.4):
    step = jax.jit(lambda v: jnp.tanh(v) * rate)  # <- cause
    step(x)  # <- call
