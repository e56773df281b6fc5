# cause: structure
# subject: remat
# old: False
# new: True
# reason: what is added is a barrier around the block, where the block is called

import functools

import jax
import jax.numpy as jnp
import numpy as np


def block(w, x):
    return jnp.sin(jnp.sin(x @ w))


@functools.partial(jax.jit, static_argnames="remat")
def step(w, x, remat):
    body = jax.checkpoint(block) if remat else block
    return jax.grad(lambda w: body(w, x).sum())(w)  # <- cause


w, x = np.ones((4, 4), np.float32), np.ones((2, 4), np.float32)
step(w, x, remat=False)
step(w, x, remat=True)  # <- call
