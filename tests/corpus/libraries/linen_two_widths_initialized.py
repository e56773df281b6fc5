# cause: size
# advice: Build all models with the same size
# program: jit_init

import flax.linen as nn
import jax
import numpy as np


class Net(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(nn.relu(nn.Dense(self.width)(x)))  # <- cause


def create(net):
    return jax.jit(net.init)(jax.random.key(0), np.ones((1, 3), np.float32))  # <- call


models = [create(Net(width)) for width in (8, 16)]
print(len(models))
