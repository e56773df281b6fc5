# cause: constant
# old: 0.01
# new: 0.001
# advice: array

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO


def model(x):
    mean = numpyro.param("mean", 0.5)
    numpyro.sample("x", dist.Normal(mean, 1.0).expand([4]).to_event(1), obs=x)


def guide(x):
    pass


def train(rate, x):
    svi = SVI(model, guide, numpyro.optim.SGD(rate), Trace_ELBO())

    @jax.jit
    def step(state, x):
        state, loss = svi.update(state, x)  # <- cause
        return state, loss

    state = svi.init(jax.random.key(0), x)
    for _ in range(2):
        state, loss = step(state, x)  # <- call
    return loss


for rate in (1e-2, 1e-3):
    train(rate, jnp.ones(4))
