# cause: stable
# run: EQX_ON_ERROR=nan
# run: EQX_ON_ERROR=nan
# reason: a system that is driven by data, which are arguments and other ones in each call

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


def field(t, y, args):
    rate, control = args
    return rate * (control.evaluate(t) - y)


@eqx.filter_jit
def trajectory(rate, times, values, y0):
    control = diffrax.LinearInterpolation(times, values)
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(field), diffrax.Tsit5(), times[0], times[-1], None, y0,
        args=(rate, control), saveat=diffrax.SaveAt(ts=times),
        stepsize_controller=diffrax.PIDController(rtol=1e-3, atol=1e-5))
    return solution.ys


@eqx.filter_jit
def distance(rate, times, values, observed):
    return jnp.mean((trajectory(rate, times, values, observed[0]) - observed) ** 2)


rng = np.random.default_rng(0)
times = np.linspace(0, 1, 6, dtype=np.float32)
for rate in (0.5, 1.0, 2.0):
    values = rng.normal(size=6).astype(np.float32)
    observed = trajectory(jnp.float32(1.0), times, values, jnp.float32(0.0))
    print(rate, float(distance(jnp.float32(rate), times, values, observed)))
