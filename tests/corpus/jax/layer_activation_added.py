# cause: structure
# subject: negate
# old: nothing
# new: negate...

import jax
import jax.numpy as jnp
import numpy as np


def make_step(layers):
    def step(w, x):
        hidden = x @ w
        for layer in layers:
            hidden = layer(hidden)
        return hidden.sum()
    return jax.jit(step)


def swish(x):
    return x * jax.lax.logistic(x)  # <- cause


w, x = np.ones((4, 3), np.float32), np.ones((2, 4), np.float32)
make_step([jnp.tanh])(w, x)
make_step([jnp.tanh, swish])(w, x)  # <- call
