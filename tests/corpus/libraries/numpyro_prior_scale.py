# cause: constant
# old: 2.0
# new: 5.0
# reason: how sensitive the result is to the prior is looked at with another scale of it

import jax
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer.util import log_density


def model(x, y, scale):
    slope = numpyro.sample("slope", dist.Normal(0.0, scale))
    numpyro.sample("y", dist.Normal(slope * x, 0.5).to_event(1), obs=y)


def gradient_under(scale):
    @jax.jit
    def gradient(slope, x, y):
        def potential(slope):
            return -log_density(model, (x, y, scale), {}, {"slope": slope})[0]  # <- cause

        return jax.value_and_grad(potential)(slope)

    return gradient


x = np.linspace(0, 1, 5, dtype=np.float32)
for scale in (2.0, 5.0):
    gradient_under(scale)(np.float32(1.0), x, 2 * x)  # <- call
