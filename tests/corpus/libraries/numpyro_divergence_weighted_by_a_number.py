# cause: constant
# subject: weight
# old: 0.25
# new: 0.5
# program: jit_update
# reason: the site's scale is a Python number; the bound multiplies by it when the model has run

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO

DATA = np.linspace(-1.0, 1.0, 12, dtype=np.float32)


def make_svi(weight):
    def model(data):
        with numpyro.handlers.scale(scale=weight):
            z = numpyro.sample("z", dist.Normal(0.0, 1.0))
        numpyro.sample("data", dist.Normal(z, 0.5).expand([data.shape[0]]).to_event(1), obs=data)

    def guide(data):
        location = numpyro.param("location", jnp.zeros(()))
        with numpyro.handlers.scale(scale=weight):
            numpyro.sample("z", dist.Normal(location, 0.75))

    return SVI(model, guide, numpyro.optim.SGD(0.01), Trace_ELBO())


def run_phase(weight, steps=3):
    svi = make_svi(weight)
    state = jax.jit(svi.init)(jax.random.key(0), DATA)
    update = jax.jit(svi.update)
    for _ in range(steps):
        state, loss = update(state, DATA)  # <- cause
    return loss


for weight in (0.25, 0.5):
    print(weight, run_phase(weight))  # <- call
