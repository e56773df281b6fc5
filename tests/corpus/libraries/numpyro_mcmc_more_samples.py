# cause: shape
# old: f32[5]
# new: f32[8]
# advice: num_samples
# program: jit__fori_collect_loop

import jax
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS


def coin():
    p = numpyro.sample("p", dist.Beta(2.0, 2.0))
    numpyro.sample("heads", dist.Binomial(10, p), obs=7)


def posterior(draws):
    mcmc = MCMC(kernel, num_warmup=5, num_samples=draws, progress_bar=False)
    mcmc.run(jax.random.key(1))  # <- cause
    return mcmc.get_samples()


kernel = NUTS(coin)
posterior(5)
posterior(8)
