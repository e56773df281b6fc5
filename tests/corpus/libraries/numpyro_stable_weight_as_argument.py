# cause: stable
# run: PYTHONHASHSEED=1
# run: PYTHONHASHSEED=1
# reason: the weight of the divergence is an array argument of the model; the bound adds up in the order of a set

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Predictive, Trace_ELBO


def model(x, y=None, weight=1.0):
    with numpyro.handlers.scale(scale=weight):
        w = numpyro.sample("w", dist.Normal(jnp.zeros(3), 1.0).to_event(1))
    with numpyro.plate("rows", x.shape[0]):
        numpyro.sample("y", dist.Normal(x @ w, 0.5), obs=y)


def guide(x, y=None, weight=1.0):
    location = numpyro.param("location", jnp.zeros(3))
    with numpyro.handlers.scale(scale=weight):
        numpyro.sample("w", dist.Normal(location, 0.5).to_event(1))


x = np.ones((6, 3), np.float32)
y = np.ones(6, np.float32)
svi = SVI(model, guide, numpyro.optim.Adam(0.01), Trace_ELBO())
state = jax.jit(svi.init)(jax.random.key(0), x, y, np.float32(0.0))
update = jax.jit(svi.update)
for step in range(5):
    state, loss = update(state, x, y, np.float32(step / 5))
predict = jax.jit(lambda key, params, x: Predictive(
    model, guide=guide, params=params, num_samples=4)(key, x)["y"])
for number in range(2):
    predict(jax.random.key(number), svi.get_params(state), x)
