# cause: shape
# subject: x
# old: f32[8,2]
# new: f32[5,2]
# reason: fewer rows were held out than trained on

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer.util import log_likelihood


def model(x, y):
    weights = numpyro.sample("weights", dist.Normal(0.0, 1.0).expand([2]).to_event(1))
    with numpyro.plate("rows", x.shape[0]):
        numpyro.sample("y", dist.Bernoulli(logits=x @ weights), obs=y)


@jax.jit
def elpd(posterior, x, y):
    values = log_likelihood(model, posterior, x, y)["y"]
    return jax.nn.logsumexp(values, axis=0).sum() - x.shape[0] * jnp.log(values.shape[0])


rng = np.random.default_rng(0)
posterior = {"weights": rng.normal(size=(6, 2)).astype(np.float32)}
train, held_out = rng.normal(size=(8, 2)).astype(np.float32), rng.normal(size=(5, 2)).astype(np.float32)
for x in (train, train, held_out):
    y = (x.sum(-1) > 0).astype(np.int32)
    print(float(elpd(posterior, x, y)))  # <- cause
