# cause: arguments
# subject: t1
# old: absent
# new: f32[]
# reason: filter_jit takes arrays as arguments, and makes Python numbers a part of the program
# run: EQX_ON_ERROR=nan

import jax.numpy as jnp
from diffrax import Euler, ODETerm, diffeqsolve

term = ODETerm(lambda t, y, args: jnp.sin(t) - y)


def until(t1):
    return diffeqsolve(term, Euler(), t0=0.0, t1=t1, dt0=0.125, y0=jnp.zeros(2))  # <- cause


until(1.0)
until(jnp.float32(1.0))
