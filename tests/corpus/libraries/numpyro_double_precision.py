# cause: dtype
# subject: x
# old: f32[5]
# new: f64[5]

import jax
import numpy as np
import numpyro
import numpyro.distributions as dist


@jax.jit
def log_density(x):
    return dist.StudentT(3.0, 0.0, 1.0).log_prob(x).sum()


x = np.linspace(-1.0, 1.0, 5)
log_density(x)
numpyro.enable_x64()
log_density(x)  # <- cause
