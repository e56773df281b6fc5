# cause: weak_type
# subject: noise
# old: weak f32[]
# new: f32[]
# reason: what the number meets is converted instead of the number, and seems to have another dtype
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(x, noise):
    mean = jnp.tanh(x.astype(jnp.bfloat16))
    return mean + noise * jnp.ones_like(mean)


x = np.ones((6, 2), np.float32)
step(x, 0.5)
step(x, np.float32(0.5))  # <- cause
