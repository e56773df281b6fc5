# cause: stable
# reason: equal frozen settings are made for each phase; the rate is an array

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


@dataclasses.dataclass(frozen=True)
class Settings:
    clip: float = 1.0
    robust: bool = True


class Net(eqx.Module):
    layers: tuple

    def __init__(self, key):
        a, b = jax.random.split(key)
        self.layers = (eqx.nn.Linear(4, 8, key=a), eqx.nn.Linear(8, 1, key=b))

    def __call__(self, x):
        return self.layers[1](jax.nn.relu(self.layers[0](x)))[0]


@eqx.filter_jit
def train_step(model, x, y, rate, settings):
    def loss_fn(model):
        error = jax.vmap(model)(x) - y
        return jnp.mean(jnp.abs(error) if settings.robust else error ** 2)

    grads = eqx.filter_grad(loss_fn)(model)
    norm = jnp.sqrt(sum(jnp.sum(g ** 2) for g in jax.tree.leaves(grads)))
    scale = rate * jnp.minimum(1.0, settings.clip / (norm + 1e-6))
    return eqx.apply_updates(model, jax.tree.map(lambda g: -scale * g, grads))


def phase(model, rates, rng):
    settings = Settings(robust=True)
    for rate in rates:
        x = rng.normal(size=(5, 4)).astype(np.float32)
        model = train_step(model, x, x.sum(1), jnp.asarray(rate, jnp.float32), settings)
    return model


rng = np.random.default_rng(0)
model = eqx.filter_jit(Net)(jax.random.key(0))
for rates in ((0.1, 0.05), (0.02, 0.01, 0.005)):
    model = phase(model, rates, rng)
