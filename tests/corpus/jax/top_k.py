# cause: size
# subject: k
# old: 2
# new: 3

import functools

import jax
import numpy as np
from jax import lax


@functools.partial(jax.jit, static_argnames="k")
def step(scores, k):
    values, _ = lax.top_k(scores, k)  # <- cause
    return values.sum()


scores = np.arange(8, dtype=np.float32)
step(scores, k=2)
step(scores, k=3)  # <- call
