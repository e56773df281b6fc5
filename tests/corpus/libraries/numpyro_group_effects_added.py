# cause: arguments
# subject: values['group']
# old: absent
# new: f32[3]
# reason: the hierarchical model has a value for each group; what is computed of it follows

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer.util import log_density

GROUPS = np.array([0, 1, 2, 0, 1, 2])


def flat(y):
    mean = numpyro.sample("mean", dist.Normal(0.0, 1.0))
    numpyro.sample("y", dist.Normal(mean, 1.0).expand([6]).to_event(1), obs=y)


def grouped(y):
    mean = numpyro.sample("mean", dist.Normal(0.0, 1.0))
    with numpyro.plate("groups", 3):
        group = numpyro.sample("group", dist.Normal(mean, 0.5))
    numpyro.sample("y", dist.Normal(group[GROUPS], 1.0).to_event(1), obs=y)


def compare(model, values, y):
    @jax.jit
    def potential(values, y):
        return -log_density(model, (y,), {}, values)[0]

    return potential(values, y)  # <- cause


y = np.ones(6, np.float32)
mean = np.float32(0.5)
compare(flat, {"mean": mean}, y)
compare(grouped, {"mean": mean, "group": np.zeros(3, np.float32)}, y)
