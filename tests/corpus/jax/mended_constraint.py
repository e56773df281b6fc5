# cause: none
# reason: advice of a constraint that comes and goes: in every call

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))


@jax.jit
def step(w, x):
    h = jax.lax.with_sharding_constraint(x @ w, NamedSharding(mesh, P("data")))
    return jnp.tanh(h).sum()


w = jax.device_put(np.ones((4, 4), np.float32), NamedSharding(mesh, P()))
x = jax.device_put(np.ones((8, 4), np.float32), NamedSharding(mesh, P()))
for _ in range(2):
    step(w, x)
