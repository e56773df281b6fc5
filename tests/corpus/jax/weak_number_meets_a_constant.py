# cause: weak_type
# subject: noise
# old: weak f32[]
# new: f32[]
# reason: the constant is in the dtype of the number instead of the array's
import jax
import jax.numpy as jnp


@jax.jit
def step(x, noise):
    return jnp.tanh(x) * jnp.where(x > 0, noise * jnp.bfloat16(1.0), jnp.bfloat16(0))


x = jnp.ones((6, 2), jnp.bfloat16)
step(x, 0.5)
step(x, jnp.float32(0.5))  # <- cause
