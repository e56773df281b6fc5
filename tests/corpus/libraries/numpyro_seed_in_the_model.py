# cause: constant
# old: 2
# new: 3
# pattern: counter
# advice: array

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro import handlers


def model(scale):
    noise = numpyro.sample("noise", dist.Normal(0.0, 1.0).expand([3]))
    return numpyro.deterministic("out", noise * scale)


def make_draw(seed):
    @jax.jit
    def draw(scale):
        seeded = handlers.seed(model, rng_seed=seed)  # <- cause
        return seeded(scale)
    return draw


for seed in range(4):
    make_draw(seed)(jnp.float32(2.0))  # <- call
