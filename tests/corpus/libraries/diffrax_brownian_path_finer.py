# cause: constant
# old: 0.25
# new: 0.0625
# reason: the tolerance of the Brownian path is a Python number that the function closes over
# run: EQX_ON_ERROR=nan

import diffrax
import jax
import jax.numpy as jnp
import numpy as np


def make_simulate(tolerance):
    @jax.jit
    def simulate(y0, key):
        noise = diffrax.VirtualBrownianTree(0.0, 1.0, tol=tolerance, shape=(), key=key)
        terms = diffrax.MultiTerm(diffrax.ODETerm(lambda t, y, args: -y),
                                  diffrax.ControlTerm(lambda t, y, args: 0.2 * jnp.cos(y), noise))
        solution = diffrax.diffeqsolve(terms, diffrax.Heun(), 0.0, 1.0, 0.25, y0)  # <- cause
        return solution.ys[-1]

    return simulate


for tolerance in (0.25, 0.0625):
    make_simulate(tolerance)(np.float32(1.0), jax.random.key(0))  # <- call
