# cause: size
# old: 2
# new: 4
# reason: the channels are split into more groups; the size of a group follows

import dataclasses

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


@dataclasses.dataclass(frozen=True)
class Config:
    channels: int = 16
    groups: int = 2


class Block(nn.Module):
    config: Config

    @nn.compact
    def __call__(self, x):
        h = nn.Conv(self.config.channels, (3, 3), use_bias=False)(x)
        h = nn.GroupNorm(num_groups=self.config.groups)(h)  # <- cause
        return nn.relu(h).mean((1, 2))


def main():
    images = np.ones((2, 6, 6, 1), np.float32)
    params = jax.jit(Block(Config()).init)(jax.random.key(0), images)
    for config in (Config(), Config(groups=4)):
        model = Block(config)

        @jax.jit
        def features(params, images):
            return model.apply(params, images)

        for _ in range(2):
            features(params, images)  # <- call


main()
