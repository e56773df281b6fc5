# cause: arguments
# subject: weights
# old: absent
# new: f32[16]

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal


def model(x, y, weights=None):
    w = numpyro.sample("w", dist.Normal(jnp.zeros(3), 1.0).to_event(1))
    noise = numpyro.sample("noise", dist.HalfNormal(1.0))
    scale = 1.0 if weights is None else weights
    with numpyro.plate("rows", 16), numpyro.handlers.scale(scale=scale):
        numpyro.sample("y", dist.Normal(x @ w, noise), obs=y)


svi = SVI(model, AutoNormal(model), numpyro.optim.Adam(0.01), Trace_ELBO())


@jax.jit
def update(state, x, y, weights=None):
    return svi.update(state, x, y, weights)


rng = np.random.default_rng(0)


def batches():
    for index in range(4):
        x = rng.normal(size=(16, 3)).astype(np.float32)
        y = (x @ np.array([1.0, -1.0, 0.5], np.float32)).astype(np.float32)
        weights = np.full(16, 0.5, np.float32) if index >= 2 else None
        yield x, y, weights


state = svi.init(jax.random.key(0), np.zeros((16, 3), np.float32), np.zeros(16, np.float32))
for x, y, weights in batches():
    state, loss = update(state, x, y, weights)  # <- cause
    print(float(loss))
