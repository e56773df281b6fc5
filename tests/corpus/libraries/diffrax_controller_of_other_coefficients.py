# cause: constant
# run: EQX_ON_ERROR=nan
# reason: the controller of the stiffer problem gets another proportional part; it is a Python number of the controller

import diffrax
import jax
import jax.numpy as jnp
import numpy as np


def vector_field(t, y, mu):
    position, speed = y
    return jnp.stack([speed, mu * (1 - position ** 2) * speed - position])


class Oscillator:
    def __init__(self, proportional):
        self.controller = diffrax.PIDController(rtol=1e-3, atol=1e-3, pcoeff=proportional, icoeff=0.5)
        self.end = jax.jit(self._end)

    def _end(self, y0, mu):
        term, solver = diffrax.ODETerm(vector_field), diffrax.Tsit5()
        solution = diffrax.diffeqsolve(term, solver, 0.0, 2.0, 0.1, y0, mu, stepsize_controller=self.controller, max_steps=64)  # <- cause
        return solution.ys[-1]


y0 = np.array([2.0, 0.0], np.float32)
for proportional in (0.25, 0.375):
    oscillator = Oscillator(proportional)
    for mu in (1.0, 2.0):
        oscillator.end(y0, np.float32(mu))  # <- call
