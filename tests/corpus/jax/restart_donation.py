# cause: donation
# subject: w
# old: kept
# new: donated
# run:
# run: donate

import sys

import jax
import jax.numpy as jnp


def step(w):
    return w * 0.5


jax.jit(step, donate_argnums=range(len(sys.argv) - 1))(jnp.ones(8))  # <- cause
