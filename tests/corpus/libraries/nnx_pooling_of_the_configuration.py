# cause: structure
# subject: model.config.pool
# old: Pool.MEAN
# new: Pool.LAST
# reason: the second model is configured with another member of an enumeration

import dataclasses
import enum

import jax.numpy as jnp
import numpy as np
from flax import nnx


class Pool(enum.IntEnum):
    MEAN = 0
    LAST = 1


@dataclasses.dataclass(frozen=True)
class Config:
    width: int = 6
    pool: Pool = Pool.MEAN


class Encoder(nnx.Module):
    def __init__(self, config, rngs):
        self.config = config
        self.inner = nnx.Linear(3, config.width, rngs=rngs)

    def __call__(self, x):
        hidden = nnx.tanh(self.inner(x))
        if self.config.pool == Pool.MEAN:
            return hidden.mean(axis=1)
        return hidden[:, -1]  # <- cause


@nnx.jit
def score(model, x):
    return jnp.sum(model(x) ** 2)


x = np.ones((2, 5, 3), np.float32)
for model in [Encoder(Config(pool=pool), nnx.Rngs(0)) for pool in Pool]:
    for _ in range(2):
        score(model, x)  # <- call
