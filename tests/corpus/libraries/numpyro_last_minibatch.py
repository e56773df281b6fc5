# cause: shape
# run: PYTHONHASHSEED=0

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal
from numpyro.optim import Adam

ROWS = 70


def model(features, counts):
    weights = numpyro.sample("weights", dist.Normal(jnp.zeros(3), 1.0).to_event(1))
    bias = numpyro.sample("bias", dist.Normal(0.0, 2.0))
    with numpyro.plate("rows", ROWS, subsample_size=features.shape[0]):
        numpyro.sample("counts", dist.Poisson(jnp.exp(features @ weights + bias)), obs=counts)


def load():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(ROWS, 3)).astype(np.float32)
    return features, rng.poisson(np.exp(features[:, 0])).astype(np.int32)


def minibatches(features, counts, size):
    for at in range(0, len(features), size):
        yield features[at:at + size], counts[at:at + size]


svi = SVI(model, AutoNormal(model), Adam(1e-2), Trace_ELBO())
update = jax.jit(svi.update)
features, counts = load()
state = svi.init(jax.random.key(0), features[:16], counts[:16])
for epoch in range(2):
    total = 0.0
    for rows, seen in minibatches(features, counts, 16):
        state, loss = update(state, rows, seen)  # <- cause
        total += float(loss)
    print(epoch, total / ROWS)
