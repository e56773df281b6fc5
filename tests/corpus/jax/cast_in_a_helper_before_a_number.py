# cause: structure
# new: True
# reason: the number takes the dtype of what it meets; the cast is in the helper
import functools

import jax
import jax.numpy as jnp


def activate(x, half):
    y = jax.nn.silu(x)
    if half:
        y = y.astype(jnp.float16)  # <- cause
    return y


@functools.partial(jax.jit, static_argnums=2)
def step(x, w, half):
    return (activate(x @ w, half) * 3).sum()


x = jnp.ones((4, 4))
for half in False, True:
    step(x, x, half)  # <- call
