# cause: shape
# subject: x
# old: f32[6,30]
# new: f32[6,21]

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(x):
    changes = x[:, 2:] - x[:, :-2]
    p = jax.nn.softmax(changes, axis=1)
    entropy = -(p * jnp.log(p)).sum(axis=1) / np.log(changes.shape[1])
    return entropy.mean() + jnp.std(changes, ddof=1) + changes.sum() / np.sqrt(changes.size)


step(np.ones((6, 30), np.float32))
step(np.ones((6, 21), np.float32))  # <- cause
