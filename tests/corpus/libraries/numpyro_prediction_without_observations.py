# cause: arguments
# subject: y
# old: f32[5]
# new: absent
# reason: the same jitted function draws predictions where it is given no observations

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro import handlers


def model(x, y=None):
    slope = numpyro.sample("slope", dist.Normal(0.0, 1.0))
    noise = numpyro.sample("noise", dist.LogNormal(0.0, 0.5))
    return numpyro.sample("y", dist.Normal(slope * x, noise), obs=y)


@jax.jit
def outcomes(key, draws, x, y=None):
    def one(key, draw):
        seeded = handlers.seed(handlers.condition(model, draw), key)
        return seeded(x, y)

    return jax.vmap(one)(jax.random.split(key, 3), draws).mean(0)


x = np.linspace(0, 1, 5, dtype=np.float32)
draws = {"slope": np.ones(3, np.float32), "noise": np.ones(3, np.float32)}
outcomes(jax.random.PRNGKey(0), draws, x, 2 * x)
outcomes(jax.random.PRNGKey(1), draws, x)  # <- cause
