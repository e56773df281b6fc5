# cause: precision
# subject: jax_default_matmul_precision
# old: unset
# new: 'high'

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(q, k):
    scores = jnp.einsum("qd,kd->qk", q, k)  # <- cause
    return jax.nn.softmax(scores)


q, k = np.ones((4, 8), np.float32), np.ones((5, 8), np.float32)
step(q, k)
with jax.default_matmul_precision("high"):
    step(q, k)  # <- call
