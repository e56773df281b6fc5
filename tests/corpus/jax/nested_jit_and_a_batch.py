# cause: shape
# subject: x
# old: f32[8,4]
# new: f32[5,4]
# and
# cause: nested_jit
# subject: helper
# old: part of its caller
# new: a jit of its own

import jax
import jax.numpy as jnp
import numpy as np


def helper(x):
    return jnp.tanh(x) * 2.0 + jnp.cos(x)


def make(function):
    def step(x):
        return function(x).mean()  # <- cause 2

    return jax.jit(step)


make(helper)(np.ones((8, 4), np.float32))
make(jax.jit(helper))(np.ones((5, 4), np.float32))  # <- cause, call 2
