# cause: constant
# subject: blocked
# old: -1000000000.0
# new: -inf

import jax
import jax.numpy as jnp
import numpy as np


def make_step(blocked):
    def step(scores, mask):
        return jax.nn.softmax(jax.lax.select(mask, scores, jnp.full(8, blocked)))  # <- cause
    return jax.jit(step)


scores, mask = np.ones(8, np.float32), np.ones(8, bool)
make_step(-1e9)(scores, mask)
make_step(-np.inf)(scores, mask)  # <- call
