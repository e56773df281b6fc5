# cause: stable
# run: PYTHONHASHSEED=0
# run: PYTHONHASHSEED=0
# reason: minibatches of one size, the scale of the likelihood follows from the plate; numpyro iterates over sets of sites, so the seed of the hashes is fixed

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal

ROWS, BATCH = 24, 8


def model(x, y=None):
    weights = numpyro.sample("weights", dist.Normal(jnp.zeros(3), 1.0).to_event(1))
    bias = numpyro.sample("bias", dist.Normal(0.0, 1.0))
    with numpyro.plate("rows", ROWS, subsample_size=x.shape[0]):
        numpyro.sample("y", dist.Bernoulli(logits=x @ weights + bias), obs=y)


guide = AutoNormal(model)
svi = SVI(model, guide, numpyro.optim.ClippedAdam(0.05), Trace_ELBO(num_particles=2))


@jax.jit
def svi_step(state, x, y):
    return svi.update(state, x, y)


@jax.jit
def held_out_loss(state, x, y):
    return svi.evaluate(state, x, y)


rng = np.random.default_rng(0)
x = rng.normal(size=(ROWS + BATCH, 3)).astype(np.float32)
y = (x[:, 0] > 0).astype(np.int32)
state = svi.init(jax.random.key(0), x[:BATCH], y[:BATCH])
for epoch in range(3):
    order = rng.permutation(ROWS)
    for rows in order.reshape(-1, BATCH):
        state, loss = svi_step(state, x[rows], y[rows])
    print(epoch, float(loss), float(held_out_loss(state, x[ROWS:], y[ROWS:])))
