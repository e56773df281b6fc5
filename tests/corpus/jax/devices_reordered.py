# cause: devices
# subject: device assignment
# old: devices 0; 1; 2; 3
# new: devices 3; 2; 1; 0

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P


@jax.jit
def step(x):
    return x * 2.0


x = np.ones((8, 4), np.float32)
devices = np.array(jax.devices())
for order in (devices, devices[::-1]):
    step(jax.device_put(x, NamedSharding(Mesh(order, ("data",)), P("data"))))  # <- cause
