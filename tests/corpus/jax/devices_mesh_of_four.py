# cause: devices
# subject: mesh...
# old: 2
# new: 4

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P


@jax.jit
def step(x):
    return (x + 1.0).sum()


x = np.ones((8, 4), np.float32)
for count in (2, 4):
    mesh = Mesh(np.array(jax.devices()[:count]), ("data",))
    step(jax.device_put(x, NamedSharding(mesh, P("data"))))  # <- cause
