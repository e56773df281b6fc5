# cause: constant
# subject: rate
# old: 0.9
# new: 0.8

import jax
import numpy as np
from jax import lax


def decay(rate, h, x):
    return h * rate + x  # <- cause


def make_step(rate):
    def body(h, x):
        h = decay(rate, h, x)
        return h, h

    def step(h, xs):
        return lax.scan(body, h, xs)
    return jax.jit(step)


h, xs = np.ones(4, np.float32), np.ones((6, 4), np.float32)
make_step(0.9)(h, xs)
make_step(0.8)(h, xs)  # <- call
