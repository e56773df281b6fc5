# cause: shape
# subject: x
# reason: the batch is spread over two devices, and of the last one there is less for each

import functools

import jax
import jax.numpy as jnp
import numpy as np

DEVICES = jax.devices()[:2]


@functools.partial(jax.pmap, axis_name="batch", in_axes=(None, 0, 0), devices=DEVICES)
def losses(weights, x, y):
    value = jnp.mean((x @ weights - y) ** 2)
    return jax.lax.pmean(value, "batch")


def shard(array):
    return array.reshape(len(DEVICES), -1, *array.shape[1:])


weights = np.ones(3, np.float32)
data, targets = np.ones((20, 3), np.float32), np.zeros(20, np.float32)
for start in range(0, 20, 8):
    x, y = shard(data[start:start + 8]), shard(targets[start:start + 8])
    value = losses(weights, x, y)  # <- cause
