# cause: devices
# subject: device assignment
# old: device 0
# new: device 1
# advice: one device

import jax
import jax.numpy as jnp


@jax.jit
def step(w, x):
    return jnp.tanh(x @ w).sum()


w, x = jnp.ones((4, 4)), jnp.ones((8, 4))
step(w, x)
step(w, jax.device_put(x, jax.devices()[1]))  # <- cause
