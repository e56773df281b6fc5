# cause: nested_jit
# subject: helper
# run: first
# run: later
# program: jit_step

import sys

import jax
import jax.numpy as jnp
import numpy as np


def helper(x, w):
    return jnp.tanh(x @ w).mean(0) * 2


def step(x, w):
    y = (jax.jit(helper) if jitted else helper)(jnp.sin(x) + 1, w)  # <- cause
    return (y ** 2).sum()


x, w = np.ones((5, 4), np.float32), np.ones((4, 4), np.float32)
jitted = sys.argv[1] == "later"
jax.jit(step)(x, w)  # <- call
if not jitted:
    jax.jit(jax.jit(step))(x, w)
