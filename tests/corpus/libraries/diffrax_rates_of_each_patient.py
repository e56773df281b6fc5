# cause: shape
# subject: rates
# old: f32[2]
# new: f32[5,2]
# run: EQX_ON_ERROR=nan
# reason: one set of rates is solved by itself, a sample of the posterior with vmap

import diffrax
import jax
import jax.numpy as jnp
import numpy as np


def compartments(t, y, rates):
    gut, blood = y
    return jnp.stack([-rates[0] * gut, rates[0] * gut - rates[1] * blood])


def curve(rates, y0):
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(compartments), diffrax.Ralston(), 0.0, 1.0, 0.25, y0, rates,
        saveat=diffrax.SaveAt(steps=True), max_steps=4)
    return solution.ys[:, 1]


@jax.jit
def highest(rates, y0):
    curves = curve(rates, y0) if rates.ndim == 1 else jax.vmap(curve, in_axes=(0, None))(rates, y0)
    return curves.max(axis=-1)


y0 = np.array([1.0, 0.0], np.float32)
best = np.array([0.9, 0.3], np.float32)
for rates in (best, best * 1.1, np.tile(best, (5, 1))):
    print(np.asarray(highest(rates, y0)))  # <- cause
