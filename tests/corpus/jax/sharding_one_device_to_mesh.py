# cause: sharding
# subject: x
# old: unset
# new: P('data', None)

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P


@jax.jit
def step(x):
    return (x * 2.0).sum(axis=1)


mesh = Mesh(np.array(jax.devices()), ("data",))
x = np.ones((8, 4), np.float32)
step(jax.device_put(x, jax.devices()[0]))
step(jax.device_put(x, NamedSharding(mesh, P("data", None))))  # <- cause
