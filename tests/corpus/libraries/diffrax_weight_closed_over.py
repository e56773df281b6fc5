# cause: constant
# old: 0.5
# new: 0.25
# subject: friction
# run: EQX_ON_ERROR=nan

import jax.numpy as jnp
from diffrax import Heun, ODETerm, diffeqsolve


def make_field(friction):
    def field(t, y, args):
        return jnp.cos(y) - friction * y  # <- cause
    return field


for friction in (0.5, 0.25):
    diffeqsolve(ODETerm(make_field(friction)), Heun(), 0.0, 1.0, 0.1, jnp.zeros(2))  # <- call
