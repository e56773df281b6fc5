# cause: constant
# old: 0.001
# new: 1e-05
# advice: array
# run: EQX_ON_ERROR=nan

import jax.numpy as jnp
from diffrax import ODETerm, PIDController, SaveAt, Tsit5, diffeqsolve


def lotka_volterra(t, y, args):
    prey, predator = y
    a, b, c, d = args
    return jnp.stack([a * prey - b * prey * predator, -c * predator + d * prey * predator])


def solve(rtol):
    controller = PIDController(rtol=rtol, atol=1e-6)
    return diffeqsolve(ODETerm(lotka_volterra), Tsit5(), 0.0, 2.0, 0.1, jnp.array([10.0, 10.0]),  # <- cause
                       jnp.array([0.1, 0.02, 0.4, 0.02]), saveat=SaveAt(t1=True),
                       stepsize_controller=controller)


solve(1e-3)
solve(1e-5)
