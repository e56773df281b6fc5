# cause: retrace
# advice: containers
# reason: one loader gives a tuple of arrays, the other one a list

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def error(w, batch):
    x, y = batch
    return jnp.mean((x @ w - y) ** 2)


w = np.ones(3, np.float32)
pair = np.ones((4, 3), np.float32), np.zeros(4, np.float32)
for batch in (pair, pair, list(pair)):
    error(w, batch)  # <- cause
