# cause: stable
# run: PYTHONHASHSEED=0
# run: PYTHONHASHSEED=0
# reason: equal minibatches, one jit for the updates and one for the forecasts

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Predictive, Trace_ELBO
from numpyro.infer.autoguide import AutoLowRankMultivariateNormal

SHOPS = 4


def sales(shop, price, units=None):
    base = numpyro.sample("base", dist.Normal(2.0, 1.0).expand([SHOPS]).to_event(1))
    slope = numpyro.sample("slope", dist.Normal(0.0, 1.0))
    rate = jnp.exp(base[shop] + slope * price)
    with numpyro.plate("weeks", shop.shape[0]):
        numpyro.sample("units", dist.Poisson(rate), obs=units)


guide = AutoLowRankMultivariateNormal(sales, rank=2)
svi = SVI(sales, guide, numpyro.optim.Adam(0.02), Trace_ELBO())


@jax.jit
def fit_step(state, shop, price, units):
    return svi.update(state, shop, price, units)


@jax.jit
def forecast(key, params, shop, price):
    predictive = Predictive(sales, guide=guide, params=params, num_samples=20)
    return predictive(key, shop, price)["units"].mean(axis=0)


def main():
    rng = np.random.default_rng(0)
    shop = rng.integers(0, SHOPS, 36).astype(np.int32)
    price = rng.normal(size=36).astype(np.float32)
    units = rng.poisson(8, 36).astype(np.int32)
    state = jax.jit(svi.init)(jax.random.key(0), shop[:12], price[:12], units[:12])
    for epoch in range(3):
        for start in range(0, 36, 12):
            part = slice(start, start + 12)
            state, loss = fit_step(state, shop[part], price[part], units[part])
    params = svi.get_params(state)
    for week in range(2):
        print(week, forecast(jax.random.key(3), params, shop[:4], price[week:week + 4]))


main()
