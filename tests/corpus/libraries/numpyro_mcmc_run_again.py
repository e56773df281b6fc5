# cause: retrace
# program: jit__fori_collect_loop
# reason: run makes the body of its sampling loop anew each time

import jax
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS


def model(y):
    rate = numpyro.sample("rate", dist.Gamma(2.0, 1.0))
    numpyro.sample("y", dist.Poisson(rate).expand([4]).to_event(1), obs=y)


counts = np.array([2, 1, 0, 3], np.int32)
mcmc = MCMC(NUTS(model), num_warmup=3, num_samples=3, progress_bar=False)
for seed in range(3):
    mcmc.run(jax.random.key(seed), counts)  # <- cause
    print(mcmc.get_samples()["rate"].shape)
