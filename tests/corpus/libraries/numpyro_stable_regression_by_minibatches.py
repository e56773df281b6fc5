# cause: stable
# run: PYTHONHASHSEED=0
# run: PYTHONHASHSEED=0
# reason: all batches have one size, and the size of the data set is fixed

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Predictive, Trace_ELBO
from numpyro.infer.autoguide import AutoDiagonalNormal

ROWS, BATCH = 24, 6


def model(x, y=None):
    weights = numpyro.sample("weights", dist.Normal(0, 1).expand([3]).to_event(1))
    noise = numpyro.sample("noise", dist.LogNormal(-1.0, 0.5))
    with numpyro.plate("rows", ROWS, subsample_size=BATCH):
        numpyro.sample("y", dist.StudentT(4.0, x @ weights, noise), obs=y)


guide = AutoDiagonalNormal(model)
svi = SVI(model, guide, numpyro.optim.ClippedAdam(0.02), Trace_ELBO())


@jax.jit
def step(state, x, y):
    return svi.update(state, x, y)


@jax.jit
def sampled(key, params, x):
    draws = Predictive(guide, params=params, num_samples=5)(key, x)
    return Predictive(model, posterior_samples=draws)(key, x)["y"]


rng = np.random.default_rng(0)
x = rng.normal(size=(ROWS, 3)).astype(np.float32)
y = (x @ np.array([1.0, -0.5, 0.2])).astype(np.float32)
state = jax.jit(svi.init)(jax.random.key(0), x[:BATCH], y[:BATCH])
for epoch in range(2):
    order = rng.permutation(ROWS)
    for at in range(0, ROWS, BATCH):
        rows = order[at:at + BATCH]
        state, loss = step(state, x[rows], y[rows])
    draws = sampled(jax.random.key(epoch), svi.get_params(state), x[:BATCH])
    print(epoch, float(loss), np.asarray(draws).shape)
