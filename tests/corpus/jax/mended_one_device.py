# cause: none
# reason: advice of another device: jax.device_put(x, jax.devices()[0]) in every call

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(x):
    return jnp.tanh(x)


loaded = jax.device_put(np.ones((8, 4), np.float32), jax.devices()[1])
step(jax.device_put(np.ones((8, 4), np.float32), jax.devices()[0]))
step(jax.device_put(loaded, jax.devices()[0]))
