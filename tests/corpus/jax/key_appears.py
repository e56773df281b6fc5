# cause: arguments
# subject: batch['mask']
# old: absent
# new: f32[8]

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(batch):
    x = batch["x"]
    if "mask" in batch:
        x = x * batch["mask"]
    return jnp.sum(x)


ones = np.ones(8, np.float32)
step({"x": ones})
step({"x": ones, "mask": ones})  # <- cause
