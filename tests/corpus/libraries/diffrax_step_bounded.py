# cause: structure
# reason: with dtmax the controller takes the smaller of two steps
# run: EQX_ON_ERROR=nan

import diffrax
import jax
import jax.numpy as jnp
import numpy as np


def pendulum(t, y, length):
    return jnp.stack([y[1], -9.81 / length * jnp.sin(y[0])])


def make_swing(longest):
    controller = diffrax.PIDController(rtol=1e-3, atol=1e-5, dtmax=longest)

    @jax.jit
    def swing(y0, length):
        term = diffrax.ODETerm(pendulum)
        solution = diffrax.diffeqsolve(term, diffrax.Tsit5(), 0.0, 1.0, 0.05, y0, args=length, stepsize_controller=controller)  # <- cause
        return solution.ys[-1]

    return swing


for longest in (None, 0.1):
    make_swing(longest)(np.array([0.1, 0.0], np.float32), np.float32(2.0))  # <- call
