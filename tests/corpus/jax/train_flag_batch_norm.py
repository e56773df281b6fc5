# cause: structure
# subject: train
# old: True
# new: False
# reason: the running statistics become arguments because the branch that uses them is taken

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames="train")
def step(x, stats, train):
    if train:
        mean, var = x.mean(0), x.var(0)  # <- cause
    else:
        mean, var = stats["mean"], stats["var"]
    return (x - mean) * jax.lax.rsqrt(var + 1e-5)


x = np.ones((8, 4), np.float32)
stats = {"mean": np.zeros(4, np.float32), "var": np.ones(4, np.float32)}
step(x, stats, train=True)
step(x, stats, train=False)  # <- call
