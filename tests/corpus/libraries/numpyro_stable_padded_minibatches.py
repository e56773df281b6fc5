# cause: stable
# run: PYTHONHASHSEED=0
# run: PYTHONHASHSEED=0

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro import handlers
from numpyro.infer import SVI, Predictive, Trace_ELBO
from numpyro.infer.autoguide import AutoDiagonalNormal
from numpyro.optim import ClippedAdam

ROWS, SIZE = 44, 16


def model(x, y, present, temperature):
    slope = numpyro.sample("slope", dist.Normal(jnp.zeros(2), 3.0).to_event(1))
    noise = numpyro.sample("noise", dist.HalfNormal(1.0))
    with handlers.scale(scale=temperature * ROWS / SIZE), handlers.mask(mask=present):
        with numpyro.plate("rows", SIZE):
            numpyro.sample("y", dist.Normal(x @ slope, noise), obs=y)


def minibatches(x, y):
    for at in range(0, len(x), SIZE):
        count = len(x[at:at + SIZE])
        rows, seen = np.zeros((SIZE, 2), np.float32), np.zeros(SIZE, np.float32)
        rows[:count], seen[:count] = x[at:at + SIZE], y[at:at + SIZE]
        yield rows, seen, np.arange(SIZE) < count


guide = AutoDiagonalNormal(model)
svi = SVI(model, guide, ClippedAdam(5e-2), Trace_ELBO())
update = jax.jit(svi.update)


@jax.jit
def posterior_predictive(key, params, x):
    draws = Predictive(guide, params=params, num_samples=20)(key, x, None, np.ones(SIZE, bool), np.float32(1))
    return (draws["slope"] @ x.T).mean(0)


rng = np.random.default_rng(0)
x = rng.normal(size=(ROWS, 2)).astype(np.float32)
y = (x @ np.array([1.0, -2.0]) + 0.1 * rng.normal(size=ROWS)).astype(np.float32)
state = svi.init(jax.random.key(0), *next(minibatches(x, y)), np.float32(1))
for epoch in range(4):
    for batch in minibatches(x, y):
        state, loss = update(state, *batch, np.float32(0.25 * (epoch + 1)))
    print(epoch, float(loss))
print(np.asarray(posterior_predictive(jax.random.key(1), svi.get_params(state), x[:SIZE])).round(1))
