# cause: structure
# run: EQX_ON_ERROR=nan

import jax.numpy as jnp
from diffrax import Dopri5, Heun, ODETerm, diffeqsolve


def field(t, y, args):
    return jnp.cos(t) * y


for solver in (Heun(), Dopri5()):
    diffeqsolve(ODETerm(field), solver, t0=0.0, t1=1.0, dt0=0.05, y0=jnp.ones(4))  # <- cause
