# cause: size
# subject: taps
# old: 4
# new: 6

import jax
import jax.numpy as jnp
import numpy as np


def make_step(taps):
    def step(x):
        return jnp.convolve(x, taps, mode="same")  # <- cause
    return jax.jit(step)


x = np.ones(16, np.float32)
make_step(np.ones(4, np.float32))(x)
make_step(np.ones(6, np.float32))(x)  # <- call
