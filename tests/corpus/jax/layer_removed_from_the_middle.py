# cause: structure
# subject: cosine
# old: cosine...
# new: nothing

import jax
import jax.numpy as jnp
import numpy as np


def cosines(x):
    return jnp.cos(x)  # <- cause


def make_step(layers):
    def step(x):
        for layer in layers:
            x = layer(x) * 2.0
        return x
    return jax.jit(step)


x = np.ones(8, np.float32)
make_step([jnp.tanh, lambda x: cosines(x) / 2.0, jnp.exp])(x)
make_step([jnp.tanh, jnp.exp])(x)  # <- call
