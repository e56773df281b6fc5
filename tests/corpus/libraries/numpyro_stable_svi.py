# cause: stable
# run: PYTHONHASHSEED=0
# run: PYTHONHASHSEED=0
# reason: numpyro goes through sets of names, so another seed of Python's hashes is another program

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal


def model(x, y=None):
    w = numpyro.sample("w", dist.Normal(jnp.zeros(2), 1.0).to_event(1))
    with numpyro.plate("rows", x.shape[0]):
        numpyro.sample("y", dist.Bernoulli(logits=x @ w), obs=y)


guide = AutoNormal(model)
svi = SVI(model, guide, numpyro.optim.Adam(1e-2), Trace_ELBO())
rng = np.random.default_rng(1)
x = rng.normal(size=(8, 2)).astype(np.float32)
y = (x[:, 0] > 0).astype(np.int32)
state = svi.init(jax.random.key(0), x, y)
update, evaluate = jax.jit(svi.update), jax.jit(svi.evaluate)
for epoch in range(4):
    state, loss = update(state, x, y)
    if epoch % 2:
        print(epoch, float(loss), float(evaluate(state, x, y)))
print(guide.median(svi.get_params(state)))
