# cause: shape
# old: f32[16,3]
# new: f32[8,3]
# run: PYTHONHASHSEED=0
# reason: 40 rows of data in minibatches of 16

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal

ROWS, BATCH = 40, 16


def survey(x, y):
    weights = numpyro.sample("weights", dist.Normal(0.0, 1.0).expand([3]).to_event(1))
    offset = numpyro.sample("offset", dist.Normal(0.0, 5.0))
    with numpyro.plate("rows", ROWS, subsample_size=x.shape[0]):
        numpyro.sample("y", dist.Bernoulli(logits=x @ weights + offset), obs=y)


def load():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(ROWS, 3)).astype(np.float32)
    y = (x[:, 0] > 0).astype(np.int32)
    return x, y


def epochs(x, y, count):
    for _ in range(count):
        for start in range(0, ROWS, BATCH):
            yield x[start:start + BATCH], y[start:start + BATCH]


svi = SVI(survey, AutoNormal(survey), numpyro.optim.Adam(0.01), Trace_ELBO())
x, y = load()
state = jax.jit(svi.init)(jax.random.key(0), x[:BATCH], y[:BATCH])


@jax.jit
def update(state, x, y):
    return svi.update(state, x, y)


losses = []
for rows, answers in epochs(x, y, 2):
    state, loss = update(state, rows, answers)  # <- cause
    losses.append(loss)
print(float(losses[0]), float(losses[-1]))
