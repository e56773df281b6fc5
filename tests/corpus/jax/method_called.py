# cause: shape
# program: jit___call
# subject: x
# old: f32[8,4]
# new: f32[5,4]

import functools

import jax
import jax.numpy as jnp
import numpy as np


class Net:
    @functools.partial(jax.jit, static_argnums=0)
    def __call__(self, x):
        return jnp.tanh(x).sum()


net = Net()
net(np.ones((8, 4), np.float32))
net(np.ones((5, 4), np.float32))  # <- cause
