# cause: arguments
# subject: mask
# old: absent
# new: bool[6]
# advice: zeros | ones | same keys

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro import handlers


def model(x, mask=None):
    shape = numpyro.sample("shape", dist.Gamma(2.0, 1.0))
    density = dist.Normal(shape, 1.0)
    if mask is not None:
        density = density.mask(mask)
    with numpyro.plate("rows", 6):
        numpyro.sample("x", density, obs=x)


@jax.jit
def log_likelihood(shape, x, mask=None):
    conditioned = handlers.condition(model, {"shape": shape})
    trace = handlers.trace(handlers.seed(conditioned, 0)).get_trace(x, mask)
    site = trace["x"]
    return jnp.sum(site["fn"].log_prob(site["value"]))


x = np.ones(6, np.float32)
log_likelihood(np.float32(1.0), x)
log_likelihood(np.float32(1.0), x, np.array([True] * 4 + [False] * 2))  # <- cause
