# cause: stable
# run: PYTHONHASHSEED=0
# run: PYTHONHASHSEED=0
# reason: the order of the sites is that of a set in NumPyro, so the hashes are fixed. Rows are left out by a mask, so that each fold has the same shapes; one optimizer for all

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO, log_likelihood
from numpyro.infer.autoguide import AutoNormal


def model(x, y, kept):
    weights = numpyro.sample("weights", dist.Normal(jnp.zeros(3), 1.0).to_event(1))
    noise = numpyro.sample("noise", dist.HalfNormal(1.0))
    with numpyro.plate("rows", x.shape[0]), numpyro.handlers.mask(mask=kept):
        numpyro.sample("y", dist.Normal(x @ weights, noise), obs=y)


guide = AutoNormal(model)
svi = SVI(model, guide, numpyro.optim.Adam(0.05), Trace_ELBO())
start = jax.jit(svi.init)
update = jax.jit(svi.update)


@jax.jit
def held_out(key, params, x, y, kept):
    posterior = guide.sample_posterior(key, params, sample_shape=(5,))
    values = log_likelihood(model, posterior, x, y, jnp.ones_like(kept))["y"]
    return jnp.sum(jnp.where(kept, 0.0, jax.nn.logsumexp(values, axis=0)))


rng = np.random.default_rng(0)
x = rng.normal(size=(9, 3)).astype(np.float32)
y = x.sum(-1).astype(np.float32)
for fold in range(3):
    kept = np.arange(9) % 3 != fold
    state = start(jax.random.key(fold), x, y, kept)
    for _ in range(3):
        state, loss = update(state, x, y, kept)
    print(fold, float(held_out(jax.random.key(9), svi.get_params(state), x, y, kept)))
