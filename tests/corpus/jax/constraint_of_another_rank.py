# cause: shape
# subject: x
# old: f32[8]
# new: f32[8,4]
# reason: a sharding that says nothing has another entry a dimension, which is not a change of policy

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

whole = NamedSharding(Mesh(np.array(jax.devices()), ("data",)), P())


@jax.jit
def step(x):
    h = jax.lax.with_sharding_constraint(x * 2.0, whole)
    return jnp.tanh(h)


step(np.ones(8, np.float32))
step(np.ones((8, 4), np.float32))  # <- cause
