# cause: shape
# subject: values['locs']
# old: f32[2]
# new: f32[3]
# reason: the density of a mixture, first of two and then of three components

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer.util import log_density


def mixture(y, components):
    weights = numpyro.sample("weights", dist.Dirichlet(jnp.ones(components)))
    with numpyro.plate("components", components):
        locs = numpyro.sample("locs", dist.Normal(0.0, 5.0))
    parts = dist.MixtureSameFamily(dist.Categorical(probs=weights), dist.Normal(locs, 1.0))
    with numpyro.plate("rows", len(y)):
        numpyro.sample("y", parts, obs=y)


@jax.jit
def joint(values, y):
    return log_density(mixture, (y, values["locs"].shape[0]), {}, values)[0]


y = np.linspace(-2, 2, 7, dtype=np.float32)
for components in (2, 3):
    values = {"locs": np.arange(components, dtype=np.float32),
              "weights": np.full(components, 1 / components, np.float32)}
    joint(values, y)  # <- cause
