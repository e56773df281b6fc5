# cause: structure
# reason: another activation of the configuration; a gelu is made of several operations

import dataclasses

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


@dataclasses.dataclass(frozen=True)
class Config:
    width: int = 16
    activation: str = "relu"


class Mlp(nn.Module):
    config: Config

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.config.width)(x)
        x = getattr(nn, self.config.activation)(x)  # <- cause
        return nn.Dense(1)(x)


def sweep(config, params):
    model = Mlp(config)

    @jax.jit
    def loss(params, x):
        return jnp.mean(model.apply(params, x) ** 2)

    return loss(params, x)  # <- call


x = np.ones((4, 8), np.float32)
params = jax.jit(Mlp(Config()).init)(jax.random.key(0), x)
sweep(Config(activation="tanh"), params)
sweep(Config(activation="gelu"), params)
