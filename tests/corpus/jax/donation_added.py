# cause: donation
# subject: w
# old: kept
# new: donated

import jax
import jax.numpy as jnp
import numpy as np


def step(w, grad):
    return w - 0.1 * grad


grad = np.ones(8, np.float32)
jax.jit(step)(jnp.asarray(grad), grad)
jax.jit(step, donate_argnums=0)(jnp.asarray(grad), grad)  # <- cause
