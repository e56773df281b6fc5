# cause: sharding
# subject: x
# old: P('data', None)
# new: P(None, 'data')

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4,), ("data",), axis_types=(AxisType.Explicit,))
jax.set_mesh(mesh)


@jax.jit
def step(x):
    return (jnp.tanh(x) * 2.0 + 1.0).astype(jnp.bfloat16)


x = np.ones((8, 4), np.float32)
step(jax.device_put(x, NamedSharding(mesh, P("data", None))))
step(jax.device_put(x, NamedSharding(mesh, P(None, "data"))))  # <- cause
