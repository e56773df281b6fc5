# cause: constant
# reason: the report asks for a higher quantile; it is a Python number

import functools

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import Predictive


def model(x, y=None):
    slope = numpyro.sample("slope", dist.Normal(0.0, 1.0))
    numpyro.sample("y", dist.Normal(slope * x, 0.5), obs=y)


posterior = {"slope": np.linspace(0.5, 1.5, 8, dtype=np.float32)}


@functools.partial(jax.jit, static_argnames="upper")
def forecast(key, posterior, x, upper):
    drawn = Predictive(model, posterior)(key, x)["y"]
    return jnp.quantile(drawn, upper, axis=0)  # <- cause


x = np.linspace(0, 1, 5, dtype=np.float32)
for upper in (0.75, 0.75, 0.875):
    forecast(np.array([0, 3], np.uint32), posterior, x, upper=upper)  # <- call
