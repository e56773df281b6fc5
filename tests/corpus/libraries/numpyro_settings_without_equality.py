# cause: retrace
# advice: __eq__ | equal | frozen

import functools

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist


class Settings:
    def __init__(self, scale, degrees):
        self.scale = scale
        self.degrees = degrees


@functools.partial(jax.jit, static_argnames="settings")
def log_likelihood(x, settings):
    return jnp.sum(dist.StudentT(settings.degrees, 0.0, settings.scale).log_prob(x))


x = np.ones(5, np.float32)
for _ in range(3):
    log_likelihood(x, settings=Settings(2.0, 5.0))  # <- cause
