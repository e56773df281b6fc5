# cause: stable
# run: PYTHONHASHSEED=0
# run: PYTHONHASHSEED=0
# reason: the same model is fitted to several data sets of one size, and each is predicted from

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal


def model(x, y=None):
    slope = numpyro.sample("slope", dist.Normal(0.0, 1.0))
    noise = numpyro.sample("noise", dist.LogNormal(0.0, 0.5))
    with numpyro.plate("rows", x.shape[0]):
        numpyro.sample("y", dist.Normal(slope * x, noise), obs=y)


guide = AutoNormal(model)
svi = SVI(model, guide, numpyro.optim.Adam(0.05), Trace_ELBO())
start = jax.jit(svi.init)


@jax.jit
def fit(state, x, y):
    def body(state, _):
        return svi.update(state, x, y)

    return jax.lax.scan(body, state, None, length=5)


@jax.jit
def band(params, x):
    median = guide.median(params)
    return jnp.stack([median["slope"] * x - median["noise"], median["slope"] * x + median["noise"]])


rng = np.random.default_rng(0)
x = np.linspace(0, 1, 8, dtype=np.float32)
for seed in range(3):
    y = (2 * x + rng.normal(size=8)).astype(np.float32)
    state = start(jax.random.PRNGKey(seed), x, y)
    state, losses = fit(state, x, y)
    print(float(losses[-1]), np.asarray(band(svi.get_params(state), x)).mean())
