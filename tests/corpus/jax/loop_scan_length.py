# cause: constant
# subject: length
# old: 4
# new: 6
# advice: fori_loop

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


@functools.partial(jax.jit, static_argnames="length")
def step(x, length):
    def body(carry, _):
        return jnp.sin(carry) + 0.5, None
    last, _ = lax.scan(body, x, None, length=length)  # <- cause
    return last


x = np.ones(8, np.float32)
step(x, length=4)
step(x, length=6)  # <- call
