# cause: arguments
# subject: batch['weights']
# old: f32[8]
# new: absent

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(w, batch):
    error = batch["x"] * w - batch["y"]
    if "weights" in batch:
        error = error * batch["weights"]
    return jnp.mean(error ** 2)


ones = np.ones(8, np.float32)
step(ones, {"x": ones, "y": ones, "weights": ones})
step(ones, {"x": ones, "y": ones})  # <- cause
