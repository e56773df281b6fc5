# cause: donation
# subject: state
# old: donated
# new: kept

import jax
import jax.numpy as jnp
import numpy as np


def step(state, x):
    return jnp.tanh(state + x)


def start(**options):
    x = np.ones((4, 4), np.float32)
    return jax.jit(step, **options)(jnp.asarray(x), x)  # <- cause


start(donate_argnames="state")
start()  # <- call
