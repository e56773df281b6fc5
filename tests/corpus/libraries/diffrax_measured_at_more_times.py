# cause: size
# old: 4
# new: 6
# run: EQX_ON_ERROR=nan
# reason: the times of the measurements are an array of NumPy that the loss closes over; the second table has more

import diffrax
import jax
import jax.numpy as jnp
import numpy as np


def decay(t, y, rate):
    return -rate * y


def make_simulate(times):
    @jax.jit
    def simulate(rate, y0):
        saveat = diffrax.SaveAt(ts=times)
        solution = diffrax.diffeqsolve(diffrax.ODETerm(decay), diffrax.Heun(), 0.0, 1.0, 0.125, y0, rate, saveat=saveat, max_steps=16)  # <- cause
        return jnp.max(solution.ys), jnp.min(solution.ys)

    return simulate


tables = (np.linspace(0.1, 0.9, 4, dtype=np.float32), np.linspace(0.1, 0.9, 6, dtype=np.float32))
for times in tables:
    simulate = make_simulate(times)
    for rate in (0.5, 0.75):
        highest, lowest = simulate(np.float32(rate), np.float32(1.0))  # <- call
