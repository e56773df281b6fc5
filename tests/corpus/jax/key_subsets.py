# cause: arguments
# subject: batch['audio']
# old: absent
# new: f32[3]
# pattern: subsets

import jax
import jax.numpy as jnp
import numpy as np

SIZES = {"audio": 3, "depth": 4, "image": 5, "text": 7}


@jax.jit
def step(batch):
    total = 0.0
    for name in sorted(batch):
        total = total + jnp.sum(jnp.tanh(batch[name]))
    return total


for names in ("text", "image text", "depth image text", "audio depth image text"):
    batch = {name: np.ones(SIZES[name], np.float32) for name in names.split()}
    step(batch)  # <- cause
