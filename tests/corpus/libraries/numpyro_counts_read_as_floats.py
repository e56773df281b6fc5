# cause: dtype
# subject: counts
# old: i32[20]
# new: f32[20]
# reason: the second file has a missing value, so its column was read as floats

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer.util import log_density


def model(exposure, counts):
    base = numpyro.sample("base", dist.Normal(0.0, 1.0))
    slope = numpyro.sample("slope", dist.Normal(0.0, 0.5))
    with numpyro.plate("rows", exposure.shape[0]):
        numpyro.sample("obs", dist.Poisson(jnp.exp(base + slope * exposure)), obs=counts)


@jax.jit
def score(params, exposure, counts):
    value, _ = log_density(model, (exposure, counts), {}, params)
    return value


def read(file):
    rng = np.random.default_rng(file)
    counts = rng.poisson(3.0, 20)
    if file == 1:
        counts = np.nan_to_num(np.where(np.arange(20) == 7, np.nan, counts))
        return rng.normal(size=20).astype(np.float32), counts.astype(np.float32)
    return rng.normal(size=20).astype(np.float32), counts.astype(np.int32)


params = {"base": np.float32(0.8), "slope": np.float32(0.1)}
for file in range(2):
    exposure, counts = read(file)
    print(file, float(score(params, exposure, counts)))  # <- cause
