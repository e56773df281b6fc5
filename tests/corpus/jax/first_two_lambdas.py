# cause: first
# program: jit__lambda
# reason: two lambdas of one file are two functions

import jax
import jax.numpy as jnp
import numpy as np

grow = jax.jit(lambda x: jnp.exp(x) * 2 + x)
shrink = jax.jit(lambda x: jnp.log(x) / 3 - x)

x = np.ones(8, np.float32)
grow(x)
shrink(x)  # <- cause
