# cause: shape
# subject: w
# old: f32[8]
# new: f32[4]
# and
# cause: donation
# subject: w
# old: kept
# new: donated

import jax
import jax.numpy as jnp


def step(w):
    return w * 0.5


jax.jit(step)(jnp.ones(8))
jax.jit(step, donate_argnums=0)(jnp.ones(4))  # <- cause, cause 2
