# cause: option
# subject: jax_threefry_partitionable
# old: True
# new: unset
# reason: the draw is another program, because a setting of JAX changed; nobody chose between branches

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(key, x):
    return jnp.where(jax.random.uniform(key, x.shape) < 0.5, x, 0).sum()  # <- cause


x = np.ones((3, 8), np.float32)
step(jax.random.PRNGKey(0), x)
jax.config.update("jax_threefry_partitionable", False)
step(jax.random.PRNGKey(0), x)  # <- call
