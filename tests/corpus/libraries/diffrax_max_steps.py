# cause: constant
# old: 64
# new: 128
# advice: Keep it the same
# run: EQX_ON_ERROR=nan

import diffrax
import jax.numpy as jnp


def solve(y0, limit):
    controller = diffrax.PIDController(rtol=1e-3, atol=1e-3)
    return diffrax.diffeqsolve(diffrax.ODETerm(lambda t, y, args: jnp.sin(y)), diffrax.Heun(),  # <- cause
                               0.0, 1.0, 0.1, y0, stepsize_controller=controller, max_steps=limit)


def attempt(y0):
    for limit in (64, 128):
        solution = solve(y0, limit)
    return solution.ys


attempt(jnp.ones(3))
