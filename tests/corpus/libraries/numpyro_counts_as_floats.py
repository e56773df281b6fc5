# cause: dtype
# subject: counts
# old: i32[6]
# new: f32[6]
# reason: a table with gaps is read as floats, so the counts of that month are floats as well

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer.util import log_density


def model(exposure, counts):
    rate = numpyro.sample("rate", dist.Gamma(2.0, 1.0))
    with numpyro.plate("days", len(exposure)):
        numpyro.sample("counts", dist.Poisson(rate * exposure), obs=counts)


@jax.jit
def posterior_on_grid(grid, exposure, counts):
    def at(rate):
        return log_density(model, (exposure, counts), {}, {"rate": rate})[0]

    return jax.nn.softmax(jax.vmap(at)(grid))


grid = jnp.asarray(np.linspace(0.5, 3, 7, dtype=np.float32))
exposure = np.ones(6, np.float32)
for counts in (np.array([1, 0, 2, 3, 1, 1], np.int32), np.array([1, 0, 2, 3, 1, 1], np.float32)):
    posterior_on_grid(grid, exposure, counts)  # <- cause
