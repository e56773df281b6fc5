# cause: size
# old: 2
# new: 5
# run: PYTHONHASHSEED=0
# reason: the second fit estimates the bound with more particles, a setting of the loss

import jax
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO


def model(x, y):
    slope = numpyro.sample("slope", dist.Normal(0.0, 1.0))
    numpyro.sample("y", dist.Normal(slope * x, 0.5), obs=y)


def guide(x, y):
    mean = numpyro.param("mean", np.float32(0.0))
    numpyro.sample("slope", dist.Normal(mean, 0.1))


x = np.linspace(0, 1, 6, dtype=np.float32)


def fit(particles):
    svi = SVI(model, guide, numpyro.optim.Adam(0.01), Trace_ELBO(num_particles=particles))
    state = svi.init(jax.random.PRNGKey(0), x, 2 * x)

    @jax.jit
    def update(state, x, y):
        return svi.update(state, x, y)  # <- cause

    for _ in range(2):
        state, loss = update(state, x, 2 * x)  # <- call


for particles in (2, 5):
    fit(particles)
