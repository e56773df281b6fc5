# cause: constant
# old: 2
# new: 3
# run: EQX_ON_ERROR=nan
# reason: the stoichiometry of the reactions is closed over by the field

import diffrax
import jax
import jax.numpy as jnp
import numpy as np


def make_simulation(stoichiometry):
    def rates(t, y, args):
        speed = args * jnp.array([y[0], y[1], y[0] * y[1]])
        return stoichiometry @ speed  # <- cause

    @jax.jit
    def simulate(y0, constants):
        return diffrax.diffeqsolve(
            diffrax.ODETerm(rates), diffrax.Euler(), 0.0, 1.0, 0.125, y0, args=constants).ys[-1]
    return simulate


y0, constants = np.ones(2, np.float32), np.full(3, 0.25, np.float32)
for yield_of_the_second in (2.0, 3.0):
    network = np.array([[-1.0, 1.0, 0.5], [yield_of_the_second, -1.0, -1.0]], np.float32)
    print(make_simulation(jnp.asarray(network))(y0, constants))  # <- call
