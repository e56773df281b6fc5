# cause: stable
# reason: batches of one size over several epochs, prediction by a function of its own
# run: PYTHONHASHSEED=0
# run: PYTHONHASHSEED=0

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Predictive, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal


def model(x, y=None):
    weight = numpyro.sample("weight", dist.Normal(0.0, 1.0))
    with numpyro.plate("rows", x.shape[0]):
        return numpyro.sample("y", dist.Normal(weight * x, 0.5), obs=y)


guide = AutoNormal(model)
svi = SVI(model, guide, numpyro.optim.Adam(1e-2), Trace_ELBO())
update = jax.jit(svi.update)
rng = np.random.default_rng(0)
x = rng.normal(size=(4, 6)).astype(np.float32)
state = svi.init(jax.random.PRNGKey(0), x[0], 2 * x[0])
for epoch in range(2):
    for batch in x:
        state, loss = update(state, batch, 2 * batch)
predict = jax.jit(Predictive(model, guide=guide, params=svi.get_params(state), num_samples=4))
for batch in x:
    drawn = predict(jax.random.PRNGKey(2), batch)
print(drawn["y"].shape)
