# cause: shape
# subject: cache
# old: f32[4,8]
# new: f32[5,8]

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(cache, query):
    scores = jax.nn.softmax(cache @ query)
    return jnp.concatenate([cache, (scores @ cache)[None]])


cache = np.ones((2, 8), np.float32)
for _ in range(4):
    cache = step(cache, np.ones(8, np.float32))  # <- cause
