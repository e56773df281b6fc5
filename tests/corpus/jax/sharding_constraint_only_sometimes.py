# cause: sharding
# subject: split
# old: False
# new: True
# advice: every call

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))


@functools.partial(jax.jit, static_argnames="split")
def step(w, x, split):
    h = x @ w
    if split:
        h = jax.lax.with_sharding_constraint(h, NamedSharding(mesh, P("data")))  # <- cause
    return jnp.tanh(h).sum()


w = jax.device_put(np.ones((4, 4), np.float32), NamedSharding(mesh, P()))
x = jax.device_put(np.ones((8, 4), np.float32), NamedSharding(mesh, P()))
step(w, x, split=False)
step(w, x, split=True)  # <- call
