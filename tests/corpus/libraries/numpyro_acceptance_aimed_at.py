# cause: constant
# old: 0.8
# new: 0.95
# program: jit__fori_collect_loop
# reason: after divergences the sampler is made again, with a higher target for its acceptance

import jax
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS


def model(x, y=None):
    intercept = numpyro.sample("intercept", dist.Normal(0.0, 2.0))
    slope = numpyro.sample("slope", dist.Normal(0.0, 1.0))
    noise = numpyro.sample("noise", dist.HalfNormal(1.0))
    with numpyro.plate("rows", len(x)):
        numpyro.sample("y", dist.Normal(intercept + slope * x, noise), obs=y)


x = np.linspace(-1.0, 1.0, 8, dtype=np.float32)
y = 0.5 + 2.0 * x
for target in (0.8, 0.95):
    kernel = NUTS(model, target_accept_prob=target)
    mcmc = MCMC(kernel, num_warmup=6, num_samples=4, progress_bar=False)
    mcmc.run(jax.random.key(0), x, y=y)  # <- cause
    print(target, float(np.mean(mcmc.get_samples()["slope"])))
