# cause: retrace
# advice: Leave it out of the call
# reason: only the last of 24 static bounds differs, and the program uses none of them

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames=("buckets",))
def score(params, x, buckets):
    return jnp.tanh(x @ params["w"]).mean()


params = {"w": np.ones((4, 3), np.float32)}
x = np.ones((2, 4), np.float32)
for longest in (512, 640, 768):
    score(params, x, buckets=(*range(16, 384, 16), longest))  # <- cause
