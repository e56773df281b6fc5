# cause: constant
# subject: dilation
# old: 1
# new: 2

import functools

import jax
import numpy as np
from jax import lax


@functools.partial(jax.jit, static_argnames="dilation")
def step(image, kernel, dilation):
    out = lax.conv_general_dilated(  # <- cause
        image, kernel, (1, 1), "SAME", rhs_dilation=(dilation, dilation))
    return out * 2.0


image, kernel = np.ones((1, 1, 8, 8), np.float32), np.ones((2, 1, 3, 3), np.float32)
step(image, kernel, dilation=1)
step(image, kernel, dilation=2)  # <- call
