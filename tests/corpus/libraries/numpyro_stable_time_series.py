# cause: stable
# run: PYTHONHASHSEED=0
# run: PYTHONHASHSEED=0
# reason: a random walk by numpyro's scan, fitted to two series of one length and forecast

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.contrib.control_flow import scan
from numpyro.infer import SVI, Predictive, Trace_ELBO


def model(y):
    drift = numpyro.sample("drift", dist.Normal(0.0, 1.0))
    noise = numpyro.sample("noise", dist.HalfNormal(1.0))

    def step(level, seen):
        level = 0.9 * level + drift
        numpyro.sample("y", dist.Normal(level, noise), obs=seen)
        return level, level

    _, levels = scan(step, jnp.zeros(()), y)
    numpyro.deterministic("levels", levels)


def guide(y):
    drift = numpyro.param("drift_at", jnp.float32(0.0))
    noise = numpyro.param("noise_at", jnp.float32(1.0), constraint=dist.constraints.positive)
    numpyro.sample("drift", dist.Delta(drift))
    numpyro.sample("noise", dist.Delta(noise))


svi = SVI(model, guide, numpyro.optim.Adam(0.05), Trace_ELBO())
init, update = jax.jit(svi.init), jax.jit(svi.update)
y = np.cumsum(np.ones(6, np.float32))
state = init(jax.random.key(0), y)
for series in (y, 0.5 * y):
    for _ in range(3):
        state, loss = update(state, series)
    print(float(loss))
params = svi.get_params(state)


@jax.jit
def levels(key, params, y):
    return Predictive(model, guide=guide, params=params, num_samples=3)(key, y)["levels"]


for seed in (1, 2):
    print(np.asarray(levels(jax.random.key(seed), params, y)).mean(0))
