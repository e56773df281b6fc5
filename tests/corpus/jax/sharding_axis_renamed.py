# cause: sharding
# subject: x
# old: P('data', None)
# new: P('batch', None)

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P


@jax.jit
def step(x):
    return x * 2.0


x = np.ones((8, 4), np.float32)
for axis in ("data", "batch"):
    mesh = Mesh(np.array(jax.devices()), (axis,))
    step(jax.device_put(x, NamedSharding(mesh, P(axis))))  # <- cause
