# cause: shape
# subject: values['weights']
# old: f32[4]
# new: f32[6]
# reason: the yearly pattern gets three waves instead of two; each has a weight for its sine and its cosine

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer.util import log_density


def seasons(t, terms):
    angles = 2 * jnp.pi * t[:, None] * jnp.arange(1, terms + 1)
    return jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], axis=-1)


def model(t, terms, sales):
    trend = numpyro.sample("trend", dist.Normal(0.0, 1.0))
    weights = numpyro.sample("weights", dist.Normal(0.0, 1.0).expand([2 * terms]).to_event(1))
    level = trend * t + seasons(t, terms) @ weights
    with numpyro.plate("days", t.shape[0]):
        numpyro.sample("sales", dist.Poisson(jnp.exp(level)), obs=sales)


@jax.jit
def gradient(values, t, sales):
    terms = values["weights"].shape[0] // 2
    return jax.grad(lambda values: -log_density(model, (t, terms, sales), {}, values)[0])(values)


t, sales = np.linspace(0.0, 2.0, 10, dtype=np.float32), np.arange(10, dtype=np.int32)
for terms in (2, 3):
    values = {"trend": np.float32(0.1), "weights": np.zeros(2 * terms, np.float32)}
    for _ in range(2):
        grads = gradient(values, t, sales)  # <- cause
        values = jax.tree.map(lambda v, g: np.float32(v - 0.01 * np.asarray(g)), values, grads)
