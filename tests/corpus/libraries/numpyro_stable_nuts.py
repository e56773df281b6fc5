# cause: stable
# reason: sampling, then posterior predictive draws and prior ones

import jax
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS, Predictive


def eight_schools(sigma, y=None):
    mu = numpyro.sample("mu", dist.Normal(0, 5))
    tau = numpyro.sample("tau", dist.HalfCauchy(5))
    with numpyro.plate("schools", len(sigma)):
        theta = numpyro.sample("theta", dist.Normal(mu, tau))
        numpyro.sample("obs", dist.Normal(theta, sigma), obs=y)


sigma = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0], np.float32)
y = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0], np.float32)
mcmc = MCMC(NUTS(eight_schools), num_warmup=5, num_samples=5, progress_bar=False)
mcmc.run(jax.random.key(0), sigma, y=y)
samples = mcmc.get_samples()
draws = Predictive(eight_schools, samples)(jax.random.key(9), sigma)
prior = Predictive(eight_schools, num_samples=7)(jax.random.key(8), sigma)
print(prior["mu"].shape, draws["obs"].shape, np.asarray(samples["mu"]).mean())
