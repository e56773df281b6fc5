# cause: structure

import functools

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer.util import log_density


def model(y, robust=False):
    mean = numpyro.sample("mean", dist.Normal(0.0, 10.0))
    if robust:
        noise = dist.StudentT(4.0, mean, 1.0)
    else:
        noise = dist.Normal(mean, 1.0)
    with numpyro.plate("rows", 5):
        numpyro.sample("y", noise, obs=y)


@functools.partial(jax.jit, static_argnums=2)
def potential(mean, y, robust):
    value, _ = log_density(model, (y,), {"robust": robust}, {"mean": mean})  # <- cause
    return -value


y = jnp.arange(5.0)
potential(jnp.float32(0.0), y, False)
potential(jnp.float32(0.0), y, True)  # <- call
