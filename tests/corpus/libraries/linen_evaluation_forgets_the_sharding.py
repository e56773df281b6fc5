# cause: sharding
# subject: x
# old: P('data', None)
# reason: training spreads the batch over the mesh, the evaluation hands over what NumPy read

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import flax.linen as nn
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))
model = nn.Dense(3)
x = np.ones((8, 6), np.float32)
params = jax.device_put(jax.jit(model.init)(jax.random.key(0), x), NamedSharding(mesh, P()))


@jax.jit
def logits(params, x):
    return model.apply(params, x)


def train(x):
    for _ in range(2):
        logits(params, jax.device_put(x, NamedSharding(mesh, P("data", None))))


def evaluate(x):
    return np.asarray(logits(params, x))  # <- cause


train(x)
evaluate(x)  # <- call
