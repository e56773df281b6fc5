# cause: structure
# old: tanh...
# new: exponential...

import jax
import jax.numpy as jnp
import numpy as np


def make_step(layers):
    def step(x):
        for layer in layers:
            x = layer(x)  # <- cause
        return x
    return jax.jit(step)


x = np.ones(8, np.float32)
make_step([jnp.tanh, jnp.exp, jnp.sin])(x)
make_step([jnp.exp, jnp.tanh, jnp.sin])(x)  # <- call
