# cause: arguments
# subject: cache[1]
# old: f32[2,4]
# new: absent

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(query, cache):
    keys = jnp.concatenate(cache)
    return jax.nn.softmax(keys @ query)


query, block = np.ones(4, np.float32), np.ones((2, 4), np.float32)
step(query, [block, block])
step(query, [block])  # <- cause
