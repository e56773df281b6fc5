# cause: structure
# reason: batch statistics are computed in training and read in evaluation

import functools

import flax.linen as nn
import jax
import numpy as np


class ConvNet(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.Conv(4, (3, 3))(x)
        x = nn.BatchNorm(use_running_average=not train)(x)  # <- cause
        x = nn.relu(x).mean(axis=(1, 2))
        return nn.Dense(2)(x)


model = ConvNet()
images = np.ones((2, 8, 8, 1), np.float32)
variables = jax.jit(functools.partial(model.init, train=False))(jax.random.key(0), images)


@functools.partial(jax.jit, static_argnums=2)
def predict(variables, images, train):
    logits, _ = model.apply(variables, images, train, mutable=["batch_stats"])
    return logits


predict(variables, images, True)
predict(variables, images, False)  # <- call
