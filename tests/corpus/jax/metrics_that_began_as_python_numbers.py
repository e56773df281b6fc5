# cause: weak_type
# subject: totals['hits']
# old: weak i32[]
# new: i32[]
# and
# cause: weak_type
# subject: totals['loss']
# old: weak f32[]
# new: f32[]
# reason: both totals begin as Python's 0, and are arrays from the second step on

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(totals, losses):
    return {"loss": totals["loss"] + losses.sum(), "hits": totals["hits"] + (losses < 1).sum(dtype=jnp.int32)}


totals = {"loss": 0.0, "hits": 0}
for _ in range(2):
    totals = step(totals, np.ones(4, np.float32))  # <- cause, cause 2
