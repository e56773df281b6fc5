# cause: structure
# subject: unroll
# old: 1
# new: 2
# reason: half as many rounds of a body that is there twice: both follow from the static argument

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


@functools.partial(jax.jit, static_argnames="unroll")
def step(x, unroll):
    def body(carry, _):
        return jnp.sin(carry), None  # <- cause
    last, _ = lax.scan(body, x, None, length=8, unroll=unroll)
    return last


x = np.ones(8, np.float32)
step(x, unroll=1)
step(x, unroll=2)  # <- call
