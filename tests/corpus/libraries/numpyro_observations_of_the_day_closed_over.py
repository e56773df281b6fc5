# cause: constant
# program: jit_gradient
# reason: the potential of each day closes over the sales of that day

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer.util import log_density


def model(price, sales):
    level = numpyro.sample("level", dist.Normal(0.0, 5.0))
    elasticity = numpyro.sample("elasticity", dist.Normal(0.0, 1.0))
    with numpyro.plate("shops", price.shape[0]):
        numpyro.sample("sales", dist.Normal(level + elasticity * price, 1.0), obs=sales)


def make_gradient(sales):
    def potential(latent, price):
        return -log_density(model, (price, sales), {}, latent)[0]  # <- cause

    @jax.jit
    def gradient(latent, price):
        return jax.grad(potential)(latent, price)

    return gradient


def climb(latent, price, sales, steps=3):
    gradient = make_gradient(sales)
    for _ in range(steps):
        slope = gradient(latent, price)  # <- call
        latent = {name: value - np.float32(0.01) * slope[name] for name, value in latent.items()}
    return latent


price = np.linspace(1.0, 2.0, 6, dtype=np.float32)
latent = {"level": jnp.float32(0.0), "elasticity": jnp.float32(0.0)}
for day in range(2):
    sales = np.random.default_rng(day).normal(3.0, 1.0, 6).astype(np.float32)
    latent = climb(latent, price, sales)
print({name: float(value) for name, value in latent.items()})
