# cause: shape
# subject: x
# old: f32[8,4]
# new: f32[8]
# reason: the sharding is the same, P(), with one dimension less

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

replicated = NamedSharding(Mesh(np.array(jax.devices()), ("data",)), P())


@jax.jit
def step(x):
    return (x * 2.0).sum()


step(jax.device_put(np.ones((8, 4), np.float32), replicated))
step(jax.device_put(np.ones(8, np.float32), replicated))  # <- cause
