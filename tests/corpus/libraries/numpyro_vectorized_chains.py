# cause: shape
# program: jit__fori_collect_loop

import jax
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS


def model():
    numpyro.sample("x", dist.Normal(3.0, 1.0))


def run(chains):
    mcmc = MCMC(NUTS(model, max_tree_depth=3), num_warmup=3, num_samples=3,
                num_chains=chains, chain_method="vectorized", progress_bar=False)
    mcmc.run(jax.random.key(0), extra_fields=("num_steps",))  # <- cause


run(2)
run(4)
