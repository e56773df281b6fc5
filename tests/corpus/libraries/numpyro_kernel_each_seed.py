# cause: retrace
# program: jit__fori_collect_loop

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import HMC, MCMC

DATA = jnp.array([0.5, 1.5, 1.0])


def model():
    mean = numpyro.sample("mean", dist.Normal(0.0, 1.0))
    numpyro.sample("data", dist.Normal(mean, 1.0).expand([3]).to_event(1), obs=DATA)


def chain(seed):
    kernel = HMC(model, num_steps=3)
    mcmc = MCMC(kernel, num_warmup=3, num_samples=4, progress_bar=False)
    mcmc.run(jax.random.key(seed))  # <- cause
    return mcmc.get_samples()["mean"]


for seed in range(3):
    chain(seed)
