# cause: shape
# subject: batch
# old: f32[6,3]
# new: f32[9,3]
# reason: two numbers of the loss are computed from the number of rows, neither in proportion to it

import math

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(batch):
    rows = batch.shape[0]
    spread = jnp.sqrt((batch ** 2).sum() / math.comb(rows, 2))
    return spread - math.lgamma(rows + 0.5) * batch.mean()


step(np.ones((6, 3), np.float32))
step(np.ones((9, 3), np.float32))  # <- cause
