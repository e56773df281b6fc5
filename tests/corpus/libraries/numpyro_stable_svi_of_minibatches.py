# cause: stable
# run: PYTHONHASHSEED=0
# run: PYTHONHASHSEED=0
# reason: minibatches of one size, a held-out loss with another function

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoDiagonalNormal

ROWS, BATCH = 48, 12


def model(x, y):
    w = numpyro.sample("w", dist.Normal(jnp.zeros(4), 1.0).to_event(1))
    bias = numpyro.sample("bias", dist.Normal(0.0, 3.0))
    with numpyro.plate("rows", ROWS, subsample_size=BATCH):
        numpyro.sample("y", dist.Bernoulli(logits=x @ w + bias), obs=y)


svi = SVI(model, AutoDiagonalNormal(model), numpyro.optim.Adam(0.02), Trace_ELBO())
update = jax.jit(svi.update)
evaluate = jax.jit(svi.evaluate)

rng = np.random.default_rng(0)
x = rng.normal(size=(ROWS, 4)).astype(np.float32)
y = (x[:, 0] > 0).astype(np.int32)
state = svi.init(jax.random.key(0), x[:BATCH], y[:BATCH])
for epoch in range(3):
    for rows in rng.permutation(ROWS)[:36].reshape(3, BATCH):
        state, loss = update(state, x[rows], y[rows])
    print(epoch, float(loss), float(evaluate(state, x[36:], y[36:])))
