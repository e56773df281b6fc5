# cause: sharding
# subject: result 0
# old: P()
# new: P('data')

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))
whole = NamedSharding(mesh, P())


def step(x):
    return jnp.exp(x)


def run(spec):
    sharded = jax.jit(step, in_shardings=whole, out_shardings=NamedSharding(mesh, spec))
    return sharded(np.ones(8, np.float32))  # <- cause


run(P())
run(P("data"))  # <- call
