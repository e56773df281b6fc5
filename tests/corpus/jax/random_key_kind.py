# cause: option
# subject: jax.random
# old: threefry2x32
# new: rbg

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames="kind")
def step(seed, kind):
    key = jax.random.key(seed, impl=kind)  # <- cause
    return jax.random.bits(key, (8,))


step(np.int32(7), kind="threefry2x32")
step(np.int32(7), kind="rbg")  # <- call
