# cause: size
# old: 8
# new: 11
# program: jit__fori_collect_loop
# reason: NUTS closes over its data, so they are not arguments of the sampling loop
# advice: fixed | pad | mask

import jax
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS


def model(x, y):
    slope = numpyro.sample("slope", dist.Normal(0.0, 1.0))
    numpyro.sample("y", dist.Normal(slope * x, 1.0).to_event(1), obs=y)  # <- cause


mcmc = MCMC(NUTS(model), num_warmup=4, num_samples=4, progress_bar=False)
for day, rows in enumerate((8, 11)):
    data = np.linspace(-1.0, 1.0, rows, dtype=np.float32)
    mcmc.run(jax.random.key(day), data, 2.0 * data)  # <- call
