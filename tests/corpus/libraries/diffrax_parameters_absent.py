# cause: arguments
# subject: args
# old: absent
# new: f32[2]
# run: EQX_ON_ERROR=nan

import jax.numpy as jnp
from diffrax import Euler, ODETerm, diffeqsolve


def field(t, y, args):
    return -y if args is None else args - y


y0 = jnp.ones(2)
diffeqsolve(ODETerm(field), Euler(), 0.0, 1.0, 0.1, y0)
diffeqsolve(ODETerm(field), Euler(), 0.0, 1.0, 0.1, y0, jnp.array([0.5, 0.25]))  # <- cause
