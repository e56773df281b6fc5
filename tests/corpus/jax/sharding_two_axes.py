# cause: sharding
# subject: params['w']
# old: P('data', 'model')
# new: P('model', 'data')

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("data", "model"))


@jax.jit
def step(params, x):
    return jnp.sum(x @ params["w"])


def place(value, *axes):
    return jax.device_put(np.ones((4, 4), np.float32) * value, NamedSharding(mesh, P(*axes)))


x = place(1.0, "data")
step({"w": place(2.0, "data", "model")}, x)
step({"w": place(2.0, "model", "data")}, x)  # <- cause
