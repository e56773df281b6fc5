# cause: weak_type
# subject: rate
# old: weak f32[]
# new: f32[]
# advice: asarray | array
# reason: np.linspace gives np.float64, a float32 array for JAX; beside bfloat16 weights a Python float gives way, that does not

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def update(params, x, rate):
    grads = jax.grad(lambda p: jnp.mean((x @ p["w"]) ** 2))(params)
    return jax.tree.map(lambda p, g: p - rate * g, params, grads)


x = jnp.ones((4, 3), jnp.bfloat16)
params = {"w": jnp.ones((3, 2), jnp.bfloat16)}
rates = [0.1, 0.1, *np.linspace(0.1, 0.05, 2)]
for rate in rates[:3]:
    params = update(params, x, rate)  # <- cause
