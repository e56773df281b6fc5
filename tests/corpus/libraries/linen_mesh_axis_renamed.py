# cause: sharding
# subject: x
# old: P('data', None)
# new: P('batch', None)
# reason: evaluation makes a mesh of its own, whose axis has another name

import flax.linen as nn
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

model = nn.Sequential([nn.Dense(8), nn.relu, nn.Dense(2)])
x = np.ones((8, 4), np.float32)
params = jax.jit(model.init)(jax.random.key(0), x)


@jax.jit
def logits(params, x):
    return nn.log_softmax(model.apply(params, x))


for axis in ("data", "batch"):
    mesh = Mesh(np.array(jax.devices()[:4]), (axis,))
    logits(params, jax.device_put(x, NamedSharding(mesh, P(axis, None))))  # <- cause
