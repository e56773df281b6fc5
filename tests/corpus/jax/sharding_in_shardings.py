# cause: sharding
# subject: w
# old: P()
# new: P('model')

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("model",))
whole = NamedSharding(mesh, P())


def step(w, x):
    return jnp.dot(x, w)


def run(spec):
    sharded = jax.jit(step, in_shardings=(NamedSharding(mesh, spec), whole), out_shardings=whole)
    return sharded(np.ones(8, np.float32), np.ones(8, np.float32))  # <- cause


run(P())
run(P("model"))  # <- call
