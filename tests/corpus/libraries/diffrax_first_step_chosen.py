# cause: structure
# reason: dt0=None makes the controller compute a first step of its own
# run: EQX_ON_ERROR=nan

import diffrax
import jax.numpy as jnp


def field(t, y, args):
    return jnp.tanh(y)


def solve(first_step):
    solution = diffrax.diffeqsolve(diffrax.ODETerm(field), diffrax.Tsit5(), 0.0, 1.0, first_step,  # <- cause
                                   jnp.zeros(3),
                                   stepsize_controller=diffrax.PIDController(rtol=1e-3, atol=1e-3))
    return solution.ys


solve(0.1)
solve(None)
