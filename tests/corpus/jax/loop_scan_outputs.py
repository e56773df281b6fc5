# cause: constant
# subject: n
# old: 10
# new: 12
# advice: fori_loop

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames="n")
def step(x, n):
    def body(carry, _):
        return jnp.tanh(carry), carry.sum()

    return jax.lax.scan(body, x, None, length=n)  # <- cause


x = np.ones((8, 4), np.float32)
step(x, n=10)
step(x, n=12)  # <- call
