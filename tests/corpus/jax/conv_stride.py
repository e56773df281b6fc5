# cause: size
# subject: stride
# old: 1
# new: 2

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


@functools.partial(jax.jit, static_argnames="stride")
def step(image, kernel, stride):
    out = lax.conv(image, kernel, (stride, stride), "SAME")  # <- cause
    return jnp.mean(out)


image, kernel = np.ones((1, 1, 8, 8), np.float32), np.ones((2, 1, 3, 3), np.float32)
step(image, kernel, stride=1)
step(image, kernel, stride=2)  # <- call
