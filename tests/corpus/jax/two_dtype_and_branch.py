# cause: dtype
# subject: x
# old: f32[8]
# new: f16[8]
# and
# cause: structure
# subject: bounded
# old: True
# new: False

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnums=1)
def step(x, bounded):
    if bounded:
        y = jnp.tanh(x)
    else:
        y = jnp.exp(x)  # <- cause 2
    return y + y


step(np.ones(8, np.float32), True)
step(np.ones(8, np.float16), False)  # <- cause, call 2
