# cause: constant
# subject: self.at_once
# old: 2
# new: 6
# reason: lax.map works on pieces of the rows; how many are worked on at once is a Python number; the loop over the pieces has as many rounds as there are pieces

import jax
import jax.numpy as jnp
import numpy as np


def pairwise(row, rows):
    return jnp.exp(-jnp.sum((rows - row) ** 2, axis=-1))


class Kernel:
    def __init__(self, at_once):
        self.at_once = at_once
        self.density = jax.jit(self._density)

    def _density(self, rows):
        each = jax.lax.map(lambda row: pairwise(row, rows).sum(), rows, batch_size=self.at_once)  # <- cause
        return jnp.log(each)


rows = np.linspace(0, 1, 24, dtype=np.float32).reshape(12, 2)
for at_once in (2, 6):
    kernel = Kernel(at_once)
    for _ in range(2):
        kernel.density(rows)  # <- call
