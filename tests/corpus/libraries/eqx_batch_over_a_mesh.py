# cause: sharding
# subject: x
# old: P()
# new: P('batch', None)

import equinox as eqx
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("batch",))
everywhere, spread = NamedSharding(mesh, P()), NamedSharding(mesh, P("batch", None))


@eqx.filter_jit
def evaluate(model, x):
    return jax.vmap(model)(x).mean()


model = eqx.filter_shard(eqx.nn.Linear(4, 2, key=jax.random.key(0)), everywhere)
x = np.ones((8, 4), np.float32)
evaluate(model, jax.device_put(x, everywhere))
evaluate(model, jax.device_put(x, spread))  # <- cause
