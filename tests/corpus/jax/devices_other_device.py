# cause: devices
# subject: device assignment
# old: device 0
# new: device 1

import jax
import numpy as np


@jax.jit
def step(x):
    return x * 2.0


x = np.ones(8, np.float32)
step(jax.device_put(x, jax.devices()[0]))
step(jax.device_put(x, jax.devices()[1]))  # <- cause
