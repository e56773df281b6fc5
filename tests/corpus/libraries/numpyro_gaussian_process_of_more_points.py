# cause: shape
# subject: x
# old: f32[5]
# new: f32[8]
# reason: more was measured; covariance, factor and the constant of the density have the number of points

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer.util import log_density


def kernel(a, b, length):
    return jnp.exp(-0.5 * ((a[:, None] - b[None, :]) / length) ** 2)


def process(x, y):
    length = numpyro.sample("length", dist.LogNormal(0.0, 1.0))
    noise = numpyro.sample("noise", dist.HalfNormal(1.0))
    covariance = kernel(x, x, length) + (noise + 1e-5) * jnp.eye(x.shape[0])
    numpyro.sample("y", dist.MultivariateNormal(jnp.zeros(x.shape[0]), covariance), obs=y)


@jax.jit
def evidence(values, x, y):
    return jax.value_and_grad(lambda v: log_density(process, (x, y), {}, v)[0])(values)


values = {"length": np.float32(0.5), "noise": np.float32(0.1)}
for points in (5, 8):
    x = np.linspace(0, 1, points, dtype=np.float32)
    evidence(values, x, np.sin(x))  # <- cause
