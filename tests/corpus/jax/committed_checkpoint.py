# cause: sharding
# subject: params['b']
# old: committed to a device
# new: not committed
# advice: jax.device_put

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(params, x):
    return jnp.tanh(x @ params["w"] + params["b"]).sum()


fresh = {"w": np.ones((4, 4), np.float32), "b": np.zeros(4, np.float32)}
x = np.ones((8, 4), np.float32)
step(jax.device_put(fresh, jax.devices()[0]), x)
step(fresh, x)  # <- cause
