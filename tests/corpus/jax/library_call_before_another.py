# cause: structure
# program: jit_features
# reason: the call that is added runs a different function than the one after it

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames=('reverse',))
def features(x, reverse=False):
    y = jnp.flip(x, axis=1) if reverse else x  # <- cause
    y = jax.nn.relu(y)
    return y.sum(0)


x = np.ones((8, 4), np.float32)
features(x)
features(x, reverse=True)  # <- call
