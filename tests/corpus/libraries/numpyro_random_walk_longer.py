# cause: shape
# subject: values['level']
# old: f32[5]
# new: f32[8]
# reason: the series has more days in the second fit, so the walk of its level has more steps

import jax
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer.util import log_density


def series(y):
    scale = numpyro.sample("scale", dist.HalfNormal(1.0))
    level = numpyro.sample("level", dist.GaussianRandomWalk(scale, num_steps=len(y)))
    numpyro.sample("y", dist.StudentT(4.0, level, 0.5).to_event(1), obs=y)


@jax.jit
def density_and_slope(values, y):
    return jax.value_and_grad(lambda v: log_density(series, (y,), {}, v)[0])(values)


for days in (5, 8):
    values = {"level": np.zeros(days, np.float32), "scale": np.float32(0.5)}
    density_and_slope(values, np.linspace(0, 1, days, dtype=np.float32))  # <- cause
