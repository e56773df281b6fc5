# cause: shape
# subject: x
# old: f32[9,2]
# new: f32[4,2]
# program: jit_predict
# reason: the held-out set has fewer rows than the training set

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import Predictive


def model(x, y=None):
    weights = numpyro.sample("weights", dist.Normal(jnp.zeros(2), 1.0).to_event(1))
    with numpyro.plate("rows", x.shape[0]):
        numpyro.sample("y", dist.Normal(x @ weights, 0.5), obs=y)


@jax.jit
def predict(key, samples, x):
    return Predictive(model, samples)(key, x)["y"].mean(0)


samples = {"weights": np.ones((5, 2), np.float32)}
parts = {"train": np.ones((9, 2), np.float32), "held out": np.ones((4, 2), np.float32)}
for name, x in parts.items():
    mean = predict(jax.random.key(0), samples, x)  # <- cause
    print(name, mean.shape)
