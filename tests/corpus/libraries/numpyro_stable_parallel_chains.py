# cause: stable
# reason: a chain on each of two devices, sampled and then gone on with

import jax
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import HMC, MCMC


def model(y):
    p = numpyro.sample("p", dist.Beta(1.0, 1.0))
    numpyro.sample("y", dist.Bernoulli(p).expand([5]).to_event(1), obs=y)


y = np.array([1, 0, 1, 1, 1], np.int32)
mcmc = MCMC(HMC(model, num_steps=3), num_warmup=3, num_samples=4, num_chains=2,
            chain_method="parallel", progress_bar=False)
mcmc.run(jax.random.key(0), y)
print({name: value.shape for name, value in mcmc.get_samples(group_by_chain=True).items()})
