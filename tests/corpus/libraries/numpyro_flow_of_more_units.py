# cause: shape
# subject: svi_state...
# program: jit_update
# reason: the units of the flow in the guide are the sizes of its weights, which the state of the optimizer holds

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoIAFNormal


def model(x):
    weights = numpyro.sample("weights", dist.Normal(0.0, 1.0).expand([3]).to_event(1))
    with numpyro.plate("rows", 4):
        numpyro.sample("y", dist.Normal(x @ weights, 1.0), obs=x.sum(1))


x = jnp.ones((4, 3))
for units in (4, 6):
    guide = AutoIAFNormal(model, num_flows=1, hidden_dims=[units], skip_connections=False)
    svi = SVI(model, guide, numpyro.optim.Adam(1e-2), Trace_ELBO())
    state = svi.init(jax.random.key(0), x)
    update = jax.jit(svi.update)
    for _ in range(2):
        state, loss = update(state, x)  # <- cause
