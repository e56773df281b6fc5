# cause: devices
# subject: device assignment
# old: device 0
# new: device 2

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.relu(nn.Dense(8)(x)))


model = Net()
x = np.ones((4, 6), np.float32)
params = jax.jit(model.init)(jax.random.key(0), x)


@jax.jit
def evaluate(params, x):
    return jnp.mean(model.apply(params, x) ** 2)


for device in (jax.devices()[0], jax.devices()[2]):
    evaluate(jax.device_put(params, device), x)  # <- cause
