# cause: shape
# old: u32[6,2]
# new: u32[9,2]
# program: jit_scan

import jax
import numpyro
import numpyro.distributions as dist
from numpyro.infer import Predictive


def prior():
    a = numpyro.sample("a", dist.Normal(0.0, 1.0))
    numpyro.sample("b", dist.Normal(a, 2.0))


for draws in (6, 9):
    predict = Predictive(prior, num_samples=draws)
    predict(jax.random.key(4))  # <- cause
