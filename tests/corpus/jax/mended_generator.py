# cause: none
# reason: advice of another generator: set jax_default_prng_impl once at the start

import jax
import numpy as np

jax.config.update("jax_default_prng_impl", "rbg")


@jax.jit
def step(key, x):
    return x * jax.random.bernoulli(key, 0.9, x.shape)


x = np.ones((8, 4), np.float32)
for seed in range(3):
    step(jax.random.key(seed), x)
