# cause: constant
# subject: limit
# old: 1.0
# new: 5.0

import jax
import jax.numpy as jnp
import numpy as np


def clipped(grads, limit):
    return jax.tree.map(lambda g: jnp.clip(g, -10.0, limit), grads)  # <- cause


def make_step(limit):
    def step(w, x):
        grads = jax.grad(lambda w: jnp.sum(jnp.sin(x @ w["w"])))(w)
        return clipped(grads, limit)
    return jax.jit(step)


w, x = {"w": np.ones(4, np.float32)}, np.ones((8, 4), np.float32)
make_step(1.0)(w, x)
make_step(5.0)(w, x)  # <- call
