# cause: sharding
# subject: with_sharding_constraint
# old: P('data', None)
# new: P(None, 'data')

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))


def make_step(spec):
    def step(x):
        hidden = jnp.tanh(x)
        hidden = lax.with_sharding_constraint(hidden, NamedSharding(mesh, spec))  # <- cause
        return hidden.sum()
    return jax.jit(step)


x = jax.device_put(np.ones((8, 4), np.float32), NamedSharding(mesh, P()))
make_step(P("data", None))(x)
make_step(P(None, "data"))(x)  # <- call
