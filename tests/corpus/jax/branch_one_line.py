# cause: structure
# subject: ascend
# old: True
# new: False

import functools

import jax
import numpy as np


@functools.partial(jax.jit, static_argnames="ascend")
def step(w, grad, ascend):
    moved = w + grad if ascend else w - grad  # <- cause
    return moved * 0.5


w = np.ones(8, np.float32)
step(w, w, ascend=True)
step(w, w, ascend=False)  # <- call
