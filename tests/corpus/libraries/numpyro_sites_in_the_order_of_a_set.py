# cause: structure
# advice: PYTHONHASHSEED
# run: PYTHONHASHSEED=1
# run: PYTHONHASHSEED=3
# reason: NumPyro adds up the terms of its bound in the order of a set of names, which is another in each process

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal


def model(x, y):
    slope = numpyro.sample("slope", dist.Normal(0.0, 1.0))
    intercept = numpyro.sample("intercept", dist.Normal(0.0, 1.0))
    noise = numpyro.sample("noise", dist.HalfNormal(1.0))
    numpyro.sample("y", dist.Normal(intercept + slope * x, noise), obs=y)


svi = SVI(model, AutoNormal(model), numpyro.optim.Adam(0.05), Trace_ELBO())
x = np.linspace(0, 1, 6, dtype=np.float32)
state = jax.jit(svi.init)(jax.random.key(0), x, x)
update = jax.jit(svi.update)
for step in range(3):
    state, loss = update(state, x, x)  # <- cause
