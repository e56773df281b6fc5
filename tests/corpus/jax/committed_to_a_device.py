# cause: sharding
# subject: x
# old: not committed
# new: committed to a device
# advice: jax.device_put

import jax
import jax.numpy as jnp


@jax.jit
def step(x):
    return jnp.tanh(x).sum(axis=1)


x = jnp.ones((8, 4))
step(x)
step(jax.device_put(x, jax.devices()[0]))  # <- cause
