# cause: constant
# subject: seed
# old: 2
# new: 3
# pattern: counter

import jax
import jax.numpy as jnp
import numpy as np


def make_step(seed):
    def step(x):
        ids = (x * 100).astype(jnp.int32)
        return jnp.bitwise_xor(ids, jnp.int32(seed))  # <- cause
    return jax.jit(step)


x = np.ones(8, np.float32)
for seed in range(4):
    make_step(seed)(x)  # <- call
