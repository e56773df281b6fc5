# cause: devices
# old: 2
# new: 4
# reason: a mesh of two devices, then one of four

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

model = nn.Dense(2)
params = jax.jit(model.init)(jax.random.key(0), np.ones((1, 4), np.float32))


def make_step(mesh):
    @jax.jit
    @jax.shard_map(mesh=mesh, in_specs=(P(), P("data")), out_specs=P())
    def train_step(params, x):
        def loss_fn(params):
            return jax.lax.pmean(jnp.mean(model.apply(params, x) ** 2), "data")

        return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss_fn)(params))

    return train_step


for count in (2, 4):
    step = make_step(Mesh(np.array(jax.devices()[:count]), ("data",)))
    step(params, np.ones((8, 4), np.float32))  # <- cause
