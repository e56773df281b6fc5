# cause: retrace
# advice: containers
# run: EQX_ON_ERROR=nan
# reason: the optimiser's result comes as a named tuple with the entries of the dict; the arrays, and so the program, are the same

from typing import NamedTuple

import diffrax
import jax
import jax.numpy as jnp
import numpy as np


class Rates(NamedTuple):
    infection: jax.Array
    recovery: jax.Array


def epidemic(t, y, args):
    susceptible, infected, recovered = y
    new, healed = args[0] * susceptible * infected, args[1] * infected
    return jnp.stack([-new, new - healed, healed])


@jax.jit
def peak(y0, rates):
    rates = rates.values() if isinstance(rates, dict) else rates
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(epidemic), diffrax.Heun(), 0.0, 8.0, 0.5, y0, tuple(rates),
        saveat=diffrax.SaveAt(ts=jnp.linspace(0.0, 8.0, 6)), max_steps=32)
    return jnp.max(solution.ys[:, 1])


y0 = np.array([0.99, 0.01, 0.0], np.float32)
for infection in (1.5, 2.0):
    peak(y0, {"infection": np.float32(infection), "recovery": np.float32(0.5)})
fitted = Rates(infection=np.float32(1.7), recovery=np.float32(0.6))
print(float(peak(y0, fitted)))  # <- cause
