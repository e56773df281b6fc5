# cause: dtype
# subject: labels
# old: i32[8]
# new: i8[8]

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(logits, labels):
    picked = jnp.take_along_axis(logits, labels[:, None], axis=1)
    return -jnp.mean(picked)


logits = np.ones((8, 5), np.float32)
step(logits, np.zeros(8, np.int32))
step(logits, np.zeros(8, np.int8))  # <- cause
