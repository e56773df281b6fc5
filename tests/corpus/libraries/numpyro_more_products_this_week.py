# cause: shape
# program: jit_svi_step
# reason: the second week has data of one product more, and so a longer vector of coefficients

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal


def demand(prices, sales=None):
    with numpyro.plate("products", prices.shape[1]):
        slope = numpyro.sample("slope", dist.Normal(0.0, 1.0))
    noise = numpyro.sample("noise", dist.HalfNormal(1.0))
    with numpyro.plate("days", prices.shape[0]):
        numpyro.sample("sales", dist.Normal(prices @ slope, noise), obs=sales)


def fit(prices, sales, steps=3):
    svi = SVI(demand, AutoNormal(demand), numpyro.optim.Adam(0.01), Trace_ELBO())

    @jax.jit
    def svi_step(state, prices, sales):
        return svi.update(state, prices, sales)

    state = svi.init(jax.random.key(0), prices, sales)
    for _ in range(steps):
        state, loss = svi_step(state, prices, sales)  # <- cause
    return svi.get_params(state), float(loss)


rng = np.random.default_rng(0)
for products in (3, 4):
    prices = rng.uniform(1.0, 2.0, size=(7, products)).astype(np.float32)
    params, loss = fit(prices, prices.sum(1))  # <- call
    print(products, round(loss, 2))
