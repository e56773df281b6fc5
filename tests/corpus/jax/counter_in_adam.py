# cause: constant
# subject: adam.count
# old: 12
# new: 13
# pattern: counter

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


class Adam:
    def __init__(self):
        self.count = 10

    def update(self, w, m, grad):
        m = 0.9 * m + 0.1 * grad
        correction = 1.0 - lax.pow(jnp.float32(0.9), jnp.float32(self.count))  # <- cause
        return w - 0.01 * m / correction, m


adam = Adam()


def step(w, m, x):
    grad = jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
    return adam.update(w, m, grad)


w, m, x = np.ones(4, np.float32), np.zeros(4, np.float32), np.ones((8, 4), np.float32)
for _ in range(4):
    jax.clear_caches()
    jax.jit(step)(w, m, x)  # <- call
    adam.count += 1
