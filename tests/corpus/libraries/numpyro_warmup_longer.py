# cause: constant
# advice: same each time
# program: jit__fori_collect_loop
# reason: the number of warm-up steps tells the kernel where adaptation ends

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, HMC


def model(y):
    mean = numpyro.sample("mean", dist.Normal(0.0, 3.0))
    numpyro.sample("y", dist.Normal(mean, 1.0), obs=y)


def sample(warmup, y):
    mcmc = MCMC(kernel, num_warmup=warmup, num_samples=6, progress_bar=False)
    mcmc.run(jax.random.key(0), y)  # <- cause
    return mcmc.get_samples()["mean"]


kernel = HMC(model, num_steps=3)
y = jnp.ones(5)
for warmup in (4, 9):
    sample(warmup, y)
