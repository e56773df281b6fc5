# cause: stable
# reason: two models are fitted side by side, each by its own jitted update, and compared
# run: PYTHONHASHSEED=0
# run: PYTHONHASHSEED=0

import jax
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoDelta, AutoNormal


def line(x, y):
    slope = numpyro.sample("slope", dist.Normal(0.0, 1.0))
    numpyro.sample("y", dist.Normal(slope * x, 0.5).to_event(1), obs=y)


def curve(x, y):
    weights = numpyro.sample("weights", dist.Normal(0.0, 1.0).expand([3]).to_event(1))
    mean = weights[0] + weights[1] * x + weights[2] * x ** 2
    numpyro.sample("y", dist.StudentT(4.0, mean, 0.5).to_event(1), obs=y)


first = SVI(line, AutoNormal(line), numpyro.optim.Adam(1e-2), Trace_ELBO())
second = SVI(curve, AutoDelta(curve), numpyro.optim.Adam(1e-2), Trace_ELBO())
update_first, update_second = jax.jit(first.update), jax.jit(second.update)
rng = np.random.default_rng(0)
x = np.linspace(0, 1, 6, dtype=np.float32)
y = (x + 0.1 * rng.normal(size=6)).astype(np.float32)
first_state = first.init(jax.random.PRNGKey(0), x, y)
second_state = second.init(jax.random.PRNGKey(1), x, y)
for _ in range(3):
    first_state, first_loss = update_first(first_state, x, y)
    second_state, second_loss = update_second(second_state, x, y)
print(float(first_loss), float(second_loss))
