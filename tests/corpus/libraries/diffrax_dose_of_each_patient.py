# cause: constant
# old: 1.5
# new: 2.5
# advice: array
# run: EQX_ON_ERROR=nan
# reason: the dose is a Python number of the patient's record, static for filter_jit

import diffrax
import equinox as eqx
import jax.numpy as jnp
import numpy as np


class Elimination(eqx.Module):
    rate: jnp.ndarray

    def __call__(self, t, y, dose):
        return dose * jnp.exp(-t) - self.rate * y  # <- cause


@eqx.filter_jit
def simulate(field, dose, y0):
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(field), diffrax.Euler(), 0.0, 1.0, 0.125, y0, args=dose)
    return solution.ys[-1]


field = Elimination(np.full(2, 0.5, np.float32))
y0 = np.zeros(2, np.float32)
for patient in ({"dose": 1.5}, {"dose": 1.5}, {"dose": 2.5}):
    simulate(field, patient["dose"], y0)  # <- call
