# cause: structure
# subject: cosine
# old: sine
# new: cosine

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


def make_step(cold):
    def step(x, hot):
        return lax.cond(hot, lambda v: jnp.exp(v), lambda v: cold(v), x)
    return jax.jit(step)


def first(v):
    return jnp.sin(v)


def second(v):
    return jnp.cos(v)  # <- cause


x = np.ones(8, np.float32)
make_step(first)(x, True)
make_step(second)(x, True)  # <- call
