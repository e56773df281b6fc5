# cause: constant
# run: EQX_ON_ERROR=nan
# reason: the end of the integration is a static Python number

from functools import partial

import diffrax
import jax
import jax.numpy as jnp
import numpy as np


def predator_prey(t, y, rates):
    prey, predator = y
    birth, catch, growth, death = rates
    return jnp.stack([prey * (birth - catch * predator), predator * (growth * prey - death)])


@partial(jax.jit, static_argnames="horizon")
def forecast(start, rates, horizon):
    solution = diffrax.diffeqsolve(  # <- cause
        diffrax.ODETerm(predator_prey), diffrax.Tsit5(), t0=0.0, t1=horizon, dt0=0.02, y0=start,
        args=rates, stepsize_controller=diffrax.PIDController(rtol=1e-3, atol=1e-5), max_steps=512)
    return solution.ys[-1]


def ensemble(rates, horizon, members=3):
    rng = np.random.default_rng(1)
    ends = [forecast(rng.uniform(0.8, 1.2, 2).astype(np.float32), rates, horizon=horizon)
            for _ in range(members)]
    return np.mean([np.asarray(end) for end in ends], axis=0)


rates = np.array([1.1, 0.4, 0.1, 0.4], np.float32)
print("one week", ensemble(rates, 1.5))
print("one month", ensemble(rates, 6.5))
