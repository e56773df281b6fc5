# cause: structure
# reason: an adaptive controller estimates an error and may reject steps; a constant one does neither
# run: EQX_ON_ERROR=nan

import diffrax
import jax.numpy as jnp


def field(t, y, args):
    return -args * y + jnp.sin(t)


def solve(controller):
    return diffrax.diffeqsolve(diffrax.ODETerm(field), diffrax.Tsit5(), 0.0, 2.0, 0.1,  # <- cause
                               jnp.ones(3), args=jnp.float32(0.5),
                               stepsize_controller=controller)


solve(diffrax.ConstantStepSize())
solve(diffrax.PIDController(rtol=1e-3, atol=1e-5))
