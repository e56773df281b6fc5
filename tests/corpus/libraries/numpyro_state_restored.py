# cause: retrace
# advice: weak | type | number | asarray
# program: jit_update
# reason: the optimizer counts its steps in a weak number, which comes back from the checkpoint as an array

import pickle

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO
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
for batch in x:
    state, loss = update(state, batch, 2 * batch)
leaves, treedef = jax.tree.flatten(state)
saved = pickle.dumps(jax.device_get(leaves))
state = jax.tree.unflatten(treedef, jax.tree.map(jnp.asarray, pickle.loads(saved)))
for batch in x:
    state, loss = update(state, batch, 2 * batch)  # <- cause
