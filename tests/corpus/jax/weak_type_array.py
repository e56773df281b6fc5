# cause: weak_type
# subject: p['w']
# old: weak f32[4,4]
# new: f32[4,4]

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(p, x):
    grad = x.T @ (x @ p["w"])
    return {"w": p["w"] - 0.1 * grad}


p, x = {"w": jnp.full((4, 4), 0.1)}, np.ones((2, 4), np.float32)
for _ in range(2):
    p = step(p, x)  # <- cause
