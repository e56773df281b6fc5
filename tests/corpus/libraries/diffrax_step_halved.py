# cause: constant
# old: 0.1
# new: 0.05
# run: EQX_ON_ERROR=nan
# reason: a test of convergence solves with half the step; the step is a Python number

import diffrax
import jax
import jax.numpy as jnp
import numpy as np


def field(t, y, args):
    return jnp.stack([y[1], -args * y[0]])


def solve_with(dt0):
    @jax.jit
    def solve(y0, stiffness):
        term = diffrax.ODETerm(field)
        solution = diffrax.diffeqsolve(term, diffrax.Heun(), 0.0, 1.0, dt0, y0,  # <- cause
                                       args=stiffness)
        return solution.ys[-1]

    return solve


for dt0 in (0.1, 0.05):
    solve_with(dt0)(np.array([1.0, 0.0], np.float32), np.float32(2.0))  # <- call
