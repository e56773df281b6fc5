# cause: arguments
# subject: exposure
# old: absent
# new: f32[6]
# reason: the second table says for how long each row was looked at

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer.util import log_density


def model(features, counts, exposure=None):
    bias = numpyro.sample("bias", dist.Normal(0.0, 1.0))
    slope = numpyro.sample("slope", dist.Normal(0.0, 1.0))
    rate = jnp.exp(bias + slope * features)
    if exposure is not None:
        rate = rate * exposure
    numpyro.sample("counts", dist.Poisson(rate), obs=counts)


@jax.jit
def gradient(params, features, counts, exposure=None):
    return jax.grad(lambda p: log_density(model, (features, counts, exposure), {}, p)[0])(params)


params = {"bias": np.float32(0.1), "slope": np.float32(0.2)}
tables = [{"features": np.ones(6, np.float32), "counts": np.arange(6, dtype=np.int32)} for _ in range(3)]
tables[-1]["exposure"] = np.full(6, 2.0, np.float32)
for table in tables:
    gradient(params, **table)  # <- cause
