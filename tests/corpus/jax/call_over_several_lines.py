# cause: constant
# subject: rate
# old: 0.5
# new: 0.75

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames=("rate",))
def step(
    w,
    x,
    *,
    rate,
):
    moved = (
        jnp.tanh(x)
        + w * rate  # <- cause
    )
    return moved


for rate in (0.5, 0.75):
    step(  # <- call
        np.ones(8, np.float32),
        np.ones(8, np.float32),
        rate=rate,
    )
