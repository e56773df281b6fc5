# cause: precision
# subject: accumulate
# old: bf16[4,4]
# new: f32[4,4]

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


@functools.partial(jax.jit, static_argnames="accumulate")
def step(a, b, accumulate):
    product = lax.dot(a, b, preferred_element_type=accumulate)  # <- cause
    return product.astype(jnp.bfloat16) * 2


a = np.ones((4, 4), jnp.bfloat16)
step(a, a, accumulate=jnp.bfloat16)
step(a, a, accumulate=jnp.float32)  # <- call
