# cause: shape
# subject: values['beta']
# old: f32[5]
# new: f32[3]
# reason: after a look at the posterior fewer features are kept; there is a coefficient for each

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer.util import potential_energy


def shrinkage(x, y):
    tau = numpyro.sample("tau", dist.HalfCauchy(1.0))
    with numpyro.plate("features", x.shape[1]):
        scale = numpyro.sample("lambda", dist.HalfCauchy(1.0))
        beta = numpyro.sample("beta", dist.Normal(0.0, tau * scale))
    numpyro.sample("y", dist.Normal(x @ beta, 1.0), obs=y)


@jax.jit
def energy(values, x, y):
    return jax.value_and_grad(lambda v: potential_energy(shrinkage, (x, y), {}, v))(values)


def look(x, y, rounds=2):
    count = x.shape[1]
    values = {"tau": np.float32(0.5), "lambda": np.zeros(count, np.float32), "beta": np.ones(count, np.float32)}
    for _ in range(rounds):
        value, slope = energy(values, x, y)  # <- cause
        values = {name: v - np.float32(0.01) * np.asarray(slope[name]) for name, v in values.items()}
    return values


x, y = np.ones((7, 5), np.float32), np.zeros(7, np.float32)
look(x, y)
look(x[:, [0, 2, 4]], y)
