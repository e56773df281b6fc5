# cause: structure
# reason: a handler replaces the centred sample by one that is scaled and shifted

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro import handlers
from numpyro.infer.reparam import LocScaleReparam


def model(y):
    scale = numpyro.sample("scale", dist.HalfNormal(1.0))
    with numpyro.plate("schools", 4):
        effect = numpyro.sample("effect", dist.Normal(2.0, scale))  # <- cause
        numpyro.sample("y", dist.Normal(effect, 1.0), obs=y)


def make_predict(model):
    @jax.jit
    def predict(key, y):
        trace = handlers.trace(handlers.seed(model, key)).get_trace(y)
        return jnp.tanh(trace["effect"]["value"])

    return predict


y = np.ones(4, np.float32)
make_predict(model)(jax.random.PRNGKey(0), y)
decentred = handlers.reparam(model, config={"effect": LocScaleReparam(centered=0)})
make_predict(decentred)(jax.random.PRNGKey(0), y)  # <- call
