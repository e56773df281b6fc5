# cause: constant
# pattern: counter
# advice: asarray
# reason: filter_jit makes the Python number static, so each epoch has a program

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Autoencoder(eqx.Module):
    encoder: eqx.nn.MLP
    decoder: eqx.nn.MLP

    def __init__(self, key):
        first, second = jax.random.split(key)
        self.encoder = eqx.nn.MLP(10, 4, 16, 1, key=first)
        self.decoder = eqx.nn.MLP(2, 10, 16, 1, key=second)

    def __call__(self, x, key):
        mean, log_std = jnp.split(self.encoder(x), 2)
        z = mean + jnp.exp(log_std) * jax.random.normal(key, mean.shape)
        return self.decoder(z), mean, log_std


def elbo(model, x, keys, beta):
    y, mean, log_std = jax.vmap(model)(x, keys)
    error = ((x - y) ** 2).sum(-1)
    divergence = 0.5 * (jnp.exp(2 * log_std) + mean ** 2 - 1 - 2 * log_std).sum(-1)
    return (error + beta * divergence).mean()  # <- cause


@eqx.filter_jit
def make_step(model, opt_state, x, key, beta):
    loss, grads = eqx.filter_value_and_grad(elbo)(model, x, jax.random.split(key, len(x)), beta)
    updates, opt_state = optimizer.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state, loss


optimizer = optax.adam(1e-3)
model = eqx.filter_jit(Autoencoder)(jax.random.key(0))
opt_state = optimizer.init(eqx.filter(model, eqx.is_array))
rng = np.random.default_rng(0)
for epoch in range(5):
    beta = (epoch + 1) / 8
    for _ in range(2):
        x = rng.normal(size=(8, 10)).astype(np.float32)
        model, opt_state, loss = make_step(model, opt_state, x, jax.random.key(epoch), beta)
    print(epoch, beta, float(loss))
