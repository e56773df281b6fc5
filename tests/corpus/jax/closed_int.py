# cause: constant
# subject: buckets
# old: 7
# new: 11

import jax
import jax.numpy as jnp
import numpy as np


def make_step(buckets):
    def step(ids):
        slot = jax.lax.rem(ids, jnp.int32(buckets))  # <- cause
        return slot + 1
    return jax.jit(step)


ids = np.arange(8, dtype=np.int32)
make_step(7)(ids)
make_step(11)(ids)  # <- call
