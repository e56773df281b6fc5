# cause: size
# subject: heads
# old: 2
# new: 4

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames="heads")
def step(params, x, heads):
    def split(y):
        return y.reshape(y.shape[0], heads, -1).swapaxes(0, 1)  # <- cause
    q, k, v = (split(x @ params[name]) for name in "qkv")
    scores = jax.nn.softmax(q @ k.swapaxes(1, 2))
    return (scores @ v).swapaxes(0, 1).reshape(x.shape)


w = np.ones((8, 8), np.float32)
step({"q": w, "k": w, "v": w}, np.ones((3, 8), np.float32), heads=2)
step({"q": w, "k": w, "v": w}, np.ones((3, 8), np.float32), heads=4)  # <- call
