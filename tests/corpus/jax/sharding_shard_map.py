# cause: sharding
# subject: manual_computation
# old: P('data', None)
# new: P(None, 'data')

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))


def body(x):
    return jnp.tanh(x) * 2.0


def make_step(spec):
    def step(x):
        return jax.shard_map(body, mesh=mesh, in_specs=spec, out_specs=spec)(x)  # <- cause
    return jax.jit(step)


x = jax.device_put(np.ones((8, 4), np.float32), NamedSharding(mesh, P()))
make_step(P("data", None))(x)
make_step(P(None, "data"))(x)  # <- call
