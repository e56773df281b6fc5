# cause: shape
# subject: x
# old: f32[6,8]
# new: f32[5,8]
# and
# cause: structure
# subject: is_summed
# old: False
# new: True
# reason: the rate takes the shape of what it meets, which has a dimension less

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames="is_summed")
def step(w, x, is_summed):
    hidden = jnp.tanh(x @ w)
    if is_summed:
        hidden = jnp.sqrt(jnp.abs(hidden)).sum(0)  # <- cause 2
    return w - 0.1 * hidden.sum(0)


w = np.ones((8, 8), np.float32)
step(w, np.ones((6, 8), np.float32), is_summed=False)
step(w, np.ones((5, 8), np.float32), is_summed=True)  # <- cause, call 2
