# cause: constant
# old: 3.0
# new: 4.0
# pattern: counter
# reason: a Python float is not an argument of diffeqsolve's own jit, but a part of its program
# advice: array
# run: EQX_ON_ERROR=nan

import jax.numpy as jnp
from diffrax import ODETerm, Tsit5, diffeqsolve


def field(t, y, args):
    return -args * y


y0, decay = jnp.array([1.0, 2.0]), jnp.float32(0.5)
for horizon in (1.0, 2.0, 3.0, 4.0):
    solution = diffeqsolve(ODETerm(field), Tsit5(), 0.0, horizon, 0.1, y0, decay)  # <- cause
