# cause: size
# old: 8
# new: 12
# reason: how many are drawn is static, and so is the shape of what is drawn

from functools import partial

import distrax
import jax
import numpy as np


@partial(jax.jit, static_argnames="count")
def estimate(key, mean, count):
    samples = distrax.Normal(mean, 1.0).sample(seed=key, sample_shape=(count,))  # <- cause
    return samples.mean(0)


key, mean = jax.random.PRNGKey(0), np.zeros(3, np.float32)
for count in (8, 12):
    estimate(key, mean, count=count)  # <- call
