# cause: sharding
# subject: batch['x']
# old: unset
# new: P('data', None)
# advice: device_put | in_shardings

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.relu(nn.Dense(8)(x)))


model = Net()
batch = {"x": np.ones((8, 6), np.float32)}
params = jax.jit(model.init)(jax.random.key(0), batch["x"])
mesh = Mesh(np.array(jax.devices()), ("data",))
params = jax.device_put(params, NamedSharding(mesh, P()))


@jax.jit
def evaluate(params, batch):
    return jnp.mean(model.apply(params, batch["x"]) ** 2)


evaluate(params, batch)
batch = jax.device_put(batch, NamedSharding(mesh, P("data", None)))
evaluate(params, batch)  # <- cause
