# cause: constant
# subject: model.beta
# old: 0.6
# new: 0.8
# pattern: counter
# reason: the weight of the divergence is a Python number that the model holds

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class VAE(nnx.Module):
    def __init__(self, rngs, latent=2):
        self.encoder = nnx.Linear(6, 8, rngs=rngs)
        self.mean = nnx.Linear(8, latent, rngs=rngs)
        self.log_variance = nnx.Linear(8, latent, rngs=rngs)
        self.decoder = nnx.Linear(latent, 6, rngs=rngs)
        self.rngs = rngs
        self.beta = 0.0

    def __call__(self, x):
        hidden = nnx.relu(self.encoder(x))
        mean, log_variance = self.mean(hidden), self.log_variance(hidden)
        noise = jax.random.normal(self.rngs.noise(), mean.shape)
        return self.decoder(mean + noise * jnp.exp(0.5 * log_variance)), mean, log_variance


@nnx.jit
def train_step(model, optimizer, x):
    def loss_fn(model):
        decoded, mean, log_variance = model(x)
        reconstruction = jnp.mean(jnp.sum((decoded - x) ** 2, -1))
        divergence = -0.5 * jnp.mean(
            jnp.sum(1 + log_variance - mean ** 2 - jnp.exp(log_variance), -1))
        return reconstruction + model.beta * divergence  # <- cause

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


model = VAE(nnx.Rngs(0, noise=1))
optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
x = np.random.default_rng(0).normal(size=(8, 6)).astype(np.float32)
for epoch, beta in enumerate((0.2, 0.4, 0.6, 0.8)):
    model.beta = beta
    for _ in range(2):
        loss = train_step(model, optimizer, x)  # <- call
    print(f"epoch {epoch}: {float(loss):.3f}")
