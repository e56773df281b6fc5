# cause: constant
# subject: beta
# old: 0.25
# new: 0.5
# pattern: counter
# advice: array
# reason: the weight of the KL term is raised with each epoch; it is a Python number, static for filter_jit

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


class Autoencoder(eqx.Module):
    encoder: eqx.nn.Linear
    decoder: eqx.nn.Linear

    def __init__(self, key):
        first, second = jax.random.split(key)
        self.encoder = eqx.nn.Linear(6, 4, key=first)
        self.decoder = eqx.nn.Linear(2, 6, key=second)


def elbo(model, x, beta):
    mean, log_variance = jnp.split(jax.vmap(model.encoder)(x), 2, axis=-1)
    rebuilt = jax.vmap(model.decoder)(mean)
    divergence = jnp.mean(jnp.exp(log_variance) + mean**2 - log_variance)
    return jnp.mean((rebuilt - x) ** 2) + beta * divergence  # <- cause


@eqx.filter_jit
def train_step(model, x, beta):
    loss, grads = eqx.filter_value_and_grad(elbo)(model, x, beta)
    return eqx.apply_updates(model, jax.tree.map(lambda g: -0.1 * g, grads)), loss


model = Autoencoder(jax.random.key(0))
x = np.ones((5, 6), np.float32)
for epoch in range(4):
    for _ in range(2):
        model, loss = train_step(model, x, 0.0625 * 2**epoch)  # <- call
