# cause: size
# old: 3
# new: 5

import functools

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO


def model(data, size):
    loc = numpyro.param("loc", jnp.zeros(()))
    with numpyro.plate("data", data.shape[0], subsample_size=size) as rows:  # <- cause
        numpyro.sample("x", dist.Normal(loc, 1.0), obs=data[rows])


def guide(data, size):
    pass


svi = SVI(model, guide, numpyro.optim.SGD(1e-3), Trace_ELBO())


@functools.partial(jax.jit, static_argnames="size")
def elbo_step(state, data, size):
    return svi.update(state, data, size)


data = np.ones(16, np.float32)
state = svi.init(jax.random.key(0), data, 3)
for size in (3, 5):
    state, loss = elbo_step(state, data, size=size)  # <- call
