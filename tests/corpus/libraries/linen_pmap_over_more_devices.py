# cause: devices
# old: 2
# new: 4

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from flax import jax_utils

model = nn.Dense(2)
params = jax.jit(model.init)(jax.random.key(0), np.ones((1, 4), np.float32))


def train_step(params, x):
    grads = jax.grad(lambda p: jnp.mean(model.apply(p, x) ** 2))(params)
    return jax.lax.pmean(grads, "batch")


step = jax.pmap(train_step, axis_name="batch")
for count in (2, 4):
    devices = jax.devices()[:count]
    replicated = jax_utils.replicate(params, devices)
    step(replicated, np.ones((count, 3, 4), np.float32))  # <- cause
