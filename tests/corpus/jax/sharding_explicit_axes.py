# cause: sharding
# subject: x
# old: P('data', None)
# new: P(None, 'data')

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4,), ("data",))


@jax.jit
def step(x):
    return x * 2.0


x = np.ones((8, 4), np.float32)
step(jax.device_put(x, NamedSharding(mesh, P("data", None))))
step(jax.device_put(x, NamedSharding(mesh, P(None, "data"))))  # <- cause
