# program: jit__fori_collect_loop
# cause: size
# old: 50
# new: 60
# advice: data padded to one shape
# reason: the library closed over the data that its call was given; the model's line is where it is used

import jax
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS


def model(x, y):
    w = numpyro.sample("w", dist.Normal(0, 1).expand([x.shape[1]]))
    s = numpyro.sample("s", dist.HalfNormal(1.0))
    numpyro.sample("y", dist.Normal(x @ w, s), obs=y)  # <- cause


mcmc = MCMC(NUTS(model), num_warmup=5, num_samples=5, progress_bar=False)
for rows in (50, 60):
    x = np.random.default_rng(0).normal(size=(rows, 3)).astype(np.float32)
    mcmc.run(jax.random.PRNGKey(0), x, x.sum(1))  # <- call
