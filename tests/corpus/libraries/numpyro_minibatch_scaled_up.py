# cause: constant
# subject: rows
# old: 40
# new: 60
# reason: the density of a minibatch stands for that of all rows, whose number the model closes over

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer.util import log_density


def make_density(rows):
    def model(x, y):
        slope = numpyro.sample("slope", dist.Normal(0.0, 2.0))
        with numpyro.handlers.scale(scale=rows / len(x)):
            numpyro.sample("y", dist.Normal(slope * x, 0.5).to_event(1), obs=y)

    @jax.jit
    def density(slope, x, y):
        return log_density(model, (x, y), {}, {"slope": slope})[0]  # <- cause

    return density


x = np.linspace(0, 1, 4, dtype=np.float32)
for rows in (40, 60):
    make_density(rows)(jnp.float32(0.3), x, 2 * x)  # <- call
