# cause: constant
# subject: start
# old: 0.25
# new: 0.5
# run: EQX_ON_ERROR=nan
# reason: the time of the infusion is an attribute of the regime, which the equation compares with the time

import dataclasses

import diffrax
import jax
import jax.numpy as jnp
import numpy as np


@dataclasses.dataclass(frozen=True)
class Regime:
    start: float
    rate: float = 2.0


class Patient:
    def __init__(self, regime):
        self.regime = regime
        self.concentrations = jax.jit(self._concentrations)

    def _field(self, t, y, args):
        absorption, elimination = args
        gut, blood = y
        infusion = jnp.where(t >= self.regime.start, self.regime.rate, 0.0)  # <- cause
        return jnp.stack([infusion - absorption * gut, absorption * gut - elimination * blood])

    def _concentrations(self, absorption, elimination):
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(self._field), diffrax.Midpoint(), 0.0, 1.0, 0.125, jnp.zeros(2),
            (absorption, elimination), saveat=diffrax.SaveAt(steps=True), max_steps=16)
        return solution.ys[:, 1]


for start in (0.25, 0.5):
    patient = Patient(Regime(start))
    for absorption in (1.0, 1.5):
        patient.concentrations(np.float32(absorption), np.float32(0.3))  # <- call
