# cause: sharding
# subject: x
# old: P('data', None)
# new: P(None, 'data')

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P


@jax.jit
def step(x):
    return (x * 2.0).sum()


mesh = Mesh(np.array(jax.devices()), ("data",))
x = np.ones((8, 4), np.float32)
step(jax.device_put(x, NamedSharding(mesh, P("data", None))))
step(jax.device_put(x, NamedSharding(mesh, P(None, "data"))))  # <- cause
