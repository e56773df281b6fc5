# cause: shape
# subject: xs
# old: f32[3,4]
# new: f32[5,4]

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(w, xs):
    return jax.vmap(lambda x: jnp.tanh(x * w).sum())(xs)


w = np.ones(4, np.float32)
step(w, np.ones((3, 4), np.float32))
step(w, np.ones((5, 4), np.float32))  # <- cause
