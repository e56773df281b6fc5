# cause: none
# reason: advice of a commitment: jax.device_put before the first call

import jax
import jax.numpy as jnp


@jax.jit
def step(x):
    return jnp.tanh(x)


x = jax.device_put(jnp.ones((8, 4)), jax.devices()[0])
for _ in range(3):
    x = step(x)
