# cause: constant
# subject: spread
# old: 2.0
# new: 4.0
# advice: array argument
# reason: the deviation of the data is a scalar of numpy that the function closes over

import jax
import jax.numpy as jnp
import numpy as np


def fit(data, rounds=2):
    spread = data.std()

    @jax.jit
    def step(w, x):
        grad = jax.grad(lambda w: jnp.mean(((x / spread) @ w - 1) ** 2))(w)  # <- cause
        return w - 0.1 * grad

    w = np.zeros(3, np.float32)
    for _ in range(rounds):
        w = step(w, data)  # <- call
    return w


pattern = np.float32([[1, -1, 1], [-1, 1, -1]])
for scale in (2, 4):
    fit(scale * pattern)
