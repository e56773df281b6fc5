# cause: structure
# subject: sine
# old: 1 time
# new: 2 times
# and
# cause: constant
# subject: loop bound
# old: 8
# new: 4
# reason: half as many rounds of a body that is there twice

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


@functools.partial(jax.jit, static_argnames="unroll")
def step(x, unroll):
    def body(carry, _):
        return jnp.sin(carry), None  # <- cause
    last, _ = lax.scan(body, x, None, length=8, unroll=unroll)  # <- cause 2
    return last


x = np.ones(8, np.float32)
step(x, unroll=1)
step(x, unroll=2)  # <- call, call 2
