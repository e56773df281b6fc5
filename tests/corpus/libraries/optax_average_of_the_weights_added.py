# cause: arguments
# subject: average['b']
# old: absent
# new: f32[2]

import jax
import jax.numpy as jnp
import numpy as np
import optax


@jax.jit
def update(params, average, x):
    grads = jax.grad(lambda p: jnp.mean((x @ p["w"] + p["b"]) ** 2))(params)
    params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    if average is not None:
        average = optax.incremental_update(params, average, 0.01)
    return params, average


x = np.ones((4, 3), np.float32)
params = {"w": np.ones((3, 2), np.float32), "b": np.zeros(2, np.float32)}
average = None
for step in range(4):
    if step == 2:
        average = params
    params, average = update(params, average, x)  # <- cause
