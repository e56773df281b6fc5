# cause: constant
# old: [0, 2, 1, 0]
# new: [0, 3, 1, 0]
# pattern: counter
# advice: array | dynamic_slice
# reason: the corner of the crop is a Python number, so each offset is a program; the size of the crop stays

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

model = nn.Conv(2, (3, 3))
images = np.ones((2, 8, 8, 1), np.float32)
params = jax.jit(model.init)(jax.random.key(0), images[:, :4, :4])


def make_loss(row):
    @jax.jit
    def loss(params, images):
        crop = images[:, row:row + 4, 1:5]  # <- cause
        return jnp.mean(model.apply(params, crop) ** 2)

    return loss


for row in range(4):
    make_loss(row)(params, images)  # <- call
