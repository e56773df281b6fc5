# cause: retrace
# advice: clear_caches
# program: jit_diffeqsolve
# reason: nothing is jitted anew here, so advice not to do so would not fit
# run: EQX_ON_ERROR=nan

import diffrax
import jax
import numpy as np


def pendulum(t, y, args):
    angle, speed = y
    return (speed, -args * angle)


TERM = diffrax.ODETerm(pendulum)
START = (np.float32(1.0), np.float32(0.0))
for gravity in (1.6, 9.8):
    solution = diffrax.diffeqsolve(TERM, diffrax.Ralston(), 0.0, 1.0, 0.1, START, np.float32(gravity))  # <- cause
    jax.clear_caches()
