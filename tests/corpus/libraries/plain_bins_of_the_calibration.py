# cause: size
# reason: how many bins the calibration error is computed with is static

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames="bins")
def calibration_error(confidence, correct, bins=8):
    index = jnp.clip((confidence * 24).astype(jnp.int32), 0, bins - 1)
    count = jnp.zeros(bins).at[index].add(1.0)  # <- cause
    gap = jnp.zeros(bins).at[index].add(confidence - correct)
    return jnp.sum(jnp.abs(gap)) / jnp.sum(count)


random = np.random.default_rng(0)
confidence = random.uniform(size=32).astype(np.float32)
correct = (random.uniform(size=32) < confidence).astype(np.float32)
for bins in (8, 8, 16):
    print(bins, float(calibration_error(confidence, correct, bins=bins)))  # <- call
