# cause: dtype
# subject: args[0]
# old: f32[2,4,4,1]
# new: u8[2,4,4,1]
# reason: pictures of integers are scaled in the step, which the others do not need

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Net(nn.Module):
    @nn.compact
    def __call__(self, image):
        if image.dtype == jnp.uint8:
            image = image.astype(jnp.float32) / 255.0
        x = nn.relu(nn.Conv(3, (3, 3))(image))
        return nn.Dense(2)(x.mean((1, 2)))


net = Net()
params = jax.jit(net.init)(jax.random.key(0), np.zeros((2, 4, 4, 1), np.float32))
forward = jax.jit(net.apply)
for dtype in (np.float32, np.float32, np.uint8):
    forward(params, np.ones((2, 4, 4, 1), dtype))  # <- cause
