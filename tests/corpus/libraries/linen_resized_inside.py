# cause: size
# old: 6
# new: 9
# reason: the resolution of the stage is static and the pictures are resized within the step

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(nn.relu(nn.Conv(4, (3, 3))(x)).mean((1, 2)))


model = Net()
images = np.ones((2, 12, 12, 1), np.float32)
params = jax.jit(model.init)(jax.random.key(0), images)


@functools.partial(jax.jit, static_argnames="side")
def train_step(params, images, side):
    def loss_fn(params):
        small = jax.image.resize(images, (2, side, side, 1), "bilinear")  # <- cause
        return jnp.mean(model.apply(params, small) ** 2)

    return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss_fn)(params))


for side in (6, 9):
    params = train_step(params, images, side=side)  # <- call
