# cause: nested_jit
# subject: helper
# program: jit_step
# reason: the helper is jitted twice in the second call; that is one change

import jax
import jax.numpy as jnp
import numpy as np


def helper(x, w):
    return jnp.tanh(x @ w) * jnp.exp(-x.mean()) + jnp.cos(w).sum()


def make(helper):
    @jax.jit
    def step(x, w):
        y = helper(x, w)  # <- cause
        return (y ** 2).mean() + y.std()
    return step


x, w = np.ones((8, 4), np.float32), np.ones((4, 4), np.float32)
make(helper)(x, w)
make(jax.jit(jax.jit(helper)))(x, w)  # <- call
