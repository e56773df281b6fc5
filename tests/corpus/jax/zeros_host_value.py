# cause: size
# subject: width
# old: 4
# new: 16

import jax
import jax.numpy as jnp
import numpy as np


def make_step(width):
    @jax.jit
    def step(x):
        padded = jnp.zeros(width, x.dtype).at[:2].set(x)  # <- cause
        return jnp.fft.fft(padded).real
    return step


x = np.ones(2, np.float32)
make_step(4)(x)
make_step(16)(x)  # <- call
