# cause: constant
# subject: offset
# old: 3
# new: 4

import functools

import jax
import numpy as np


@functools.partial(jax.jit, static_argnames="offset")
def step(x, *, offset):
    shifted = x - offset  # <- cause
    return shifted * shifted


def run(offset):
    return step(np.ones(8, np.int32), offset=offset)  # <- call


run(3)
run(4)
