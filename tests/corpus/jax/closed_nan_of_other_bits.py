# cause: constant
# old: 2143289344
# new: 2143289345
# reason: a value that reads the same is shown with its bits

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames="bits")
def step(x, bits):
    missing = np.array([bits, 0], np.uint32).view(np.float32)
    return jnp.where(x > 0, x, missing)  # <- cause


x = np.ones((8, 2), np.float32)
step(x, bits=0x7FC00000)
step(x, bits=0x7FC00001)  # <- call
