import flax.linen as nn
import jax
import jax.numpy as jnp

from augment import disturbed


class Autoencoder(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(6)(nn.tanh(nn.Dense(3)(x)))


model = Autoencoder()
init = jax.jit(model.init)


class Trainer:
    def __init__(self, stage):
        self.stage = stage
        self.step = jax.jit(self._step)

    def _step(self, params, key, x):
        noisy = disturbed(key, x, self.stage)
        grads = jax.grad(lambda p: jnp.mean((model.apply(p, noisy) - x) ** 2))(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

    def fit(self, params, x):
        for epoch in range(self.stage.epochs):
            params = self.step(params, jax.random.key(epoch), x)  # <- call
        return params
