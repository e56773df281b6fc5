# cause: arguments
# subject: total['w']
# old: absent
# new: f32[3,2]
# advice: zeros

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.sgd(0.1)


@jax.jit
def micro_step(params, total, x):
    grads = jax.grad(lambda p: jnp.mean((x @ p["w"]) ** 2))(params)
    if total is None:
        return grads
    return jax.tree.map(jnp.add, total, grads)


x = np.ones((4, 3), np.float32)
params = {"w": np.ones((3, 2), np.float32)}
total = None
for _ in range(3):
    total = micro_step(params, total, x)  # <- cause
