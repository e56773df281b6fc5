# cause: structure
# program: jit__lambda
# reason: the two columns of a line are two branches of one lambda, made anew for each mode

import jax
import jax.numpy as jnp
import numpy as np

x = np.ones(8, np.float32)
for train in (True, False):
    jax.jit(lambda x: jnp.sin(x) * jnp.exp(x) if train else jnp.cos(x) + jnp.log(x))(x)  # <- cause
