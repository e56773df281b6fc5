# cause: shape
# old: f32[9]
# new: f32[6]
# program: jit__fori_collect_loop

import jax
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import HMC, MCMC


def model(observed):
    mean = numpyro.sample("mean", dist.Normal(0.0, 5.0))
    numpyro.sample("observed", dist.Normal(mean, 1.0).expand(observed.shape).to_event(1),
                   obs=observed)


def fit(observed):
    mcmc.run(jax.random.PRNGKey(0), observed)  # <- cause
    return mcmc.get_samples()["mean"].mean()


mcmc = MCMC(HMC(model, num_steps=2), num_warmup=3, num_samples=3, jit_model_args=True,
            progress_bar=False)
for fold in (9, 6):
    fit(np.ones(fold, np.float32))
