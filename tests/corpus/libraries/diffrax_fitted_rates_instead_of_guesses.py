# cause: arguments
# subject: rates...
# old: absent
# new: f32[]
# run: EQX_ON_ERROR=nan
# reason: the guesses are Python numbers, which filter_jit makes static; the fitted rates are arrays

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy.optimize


def field(t, y, rates):
    growth = rates["growth"] * y * (1.0 - y / 10.0)
    return growth - rates["death"] * y


@eqx.filter_jit
def simulate(rates, y0, ts):
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(field), diffrax.Tsit5(), t0=0.0, t1=2.0, dt0=0.1, y0=y0, args=rates,
        saveat=diffrax.SaveAt(ts=ts), max_steps=256)
    return solution.ys


def residual(vector, y0, ts, measured):
    growth = (measured[1:] - measured[:-1]) / (ts[1:] - ts[:-1])
    middle = 0.5 * (measured[1:] + measured[:-1])
    return growth - vector[0] * middle * (1.0 - middle / 10.0) + vector[1] * middle


ts = np.linspace(0.0, 2.0, 6, dtype=np.float32)
y0 = np.float32(1.0)
rates = {"growth": 0.7, "death": 0.2}
measured = np.array([1.0, 1.2, 1.5, 1.8, 2.2, 2.6], np.float32)
for attempt in range(3):
    curve = simulate(rates, y0, ts)  # <- cause
    print(rates, float(np.mean((np.asarray(curve) - measured) ** 2)))
    start = [float(rates["growth"]), float(rates["death"])]
    found = scipy.optimize.least_squares(residual, start, args=(y0, ts, measured)).x
    rates = {"growth": jnp.asarray(found[0], jnp.float32), "death": jnp.asarray(found[1], jnp.float32)}
