# cause: size
# subject: size
# old: 32
# new: 48
# reason: the scale, 24 to 32 or to 48, follows from the size

import functools

import jax
import numpy as np


@functools.partial(jax.jit, static_argnames="size")
def step(picture, size):
    return jax.image.resize(picture, (size, size), "bilinear")  # <- cause


picture = np.ones((24, 24), np.float32)
step(picture, size=32)
step(picture, size=48)  # <- call
