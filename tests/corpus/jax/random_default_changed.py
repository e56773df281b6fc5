# cause: option
# subject: key
# old: threefry2x32
# new: rbg
# advice: jax_default_prng_impl

import jax
import numpy as np


@jax.jit
def step(key, x):
    return x * jax.random.bernoulli(key, 0.9, x.shape)


x = np.ones((8, 4), np.float32)
step(jax.random.key(0), x)
jax.config.update("jax_default_prng_impl", "rbg")
step(jax.random.key(0), x)  # <- cause
