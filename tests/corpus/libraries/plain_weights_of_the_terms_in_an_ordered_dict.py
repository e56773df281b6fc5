# cause: constant
# subject: weights['border']
# old: 2.0
# new: 8.0
# reason: the weights of the terms are kept by name, and one is raised for the last fit

import collections

import jax
import jax.numpy as jnp
import numpy as np


def compile_loss(weights):
    @jax.jit
    def loss(field, source):
        inside = jnp.mean((jnp.diff(field, 2) - source[1:-1]) ** 2)
        border = field[0] ** 2 + field[-1] ** 2
        return weights["inside"] * inside + weights["border"] * border  # <- cause

    return loss


field, source = np.ones(8, np.float32), np.zeros(8, np.float32)
weights = collections.OrderedDict(inside=1.0, border=2.0)
for border in (2.0, 8.0):
    weights["border"] = border
    loss = compile_loss(weights)
    for _ in range(2):
        loss(field, source)  # <- call
