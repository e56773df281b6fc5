# cause: constant
# old: 3
# new: 6
# program: jit_scan

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO, autoguide


def model(x):
    scale = numpyro.sample("scale", dist.LogNormal(0.0, 1.0))
    numpyro.sample("x", dist.Normal(0.0, scale).expand([4]).to_event(1), obs=x)


guide = autoguide.AutoNormal(model)
svi = SVI(model, guide, numpyro.optim.SGD(0.01), Trace_ELBO())
x = jnp.ones(4)


def fit(steps):
    return svi.run(jax.random.key(2), steps, x, progress_bar=False)  # <- cause


fit(3)
fit(6)
