# cause: shape
# subject: x
# old: f32[4,4]
# new: f32[4,6]

import jax
import jax.numpy as jnp


@jax.jit
def step(x, scale):
    return jnp.sum(jnp.tanh(x * scale))


step(jnp.ones((4, 4)), jnp.ones(4))
step(jnp.ones((4, 6)), jnp.ones(6))  # <- cause
