# cause: donation
# subject: a
# old: donated
# new: kept
# and
# cause: donation
# subject: b
# old: kept
# new: donated

import jax
import jax.numpy as jnp
import numpy as np


def step(a, b):
    return a * 2.0 + b


x = np.ones(8, np.float32)
jax.jit(step, donate_argnums=0)(jnp.asarray(x), jnp.asarray(x))
jax.jit(step, donate_argnums=1)(jnp.asarray(x), jnp.asarray(x))  # <- cause, cause 2
