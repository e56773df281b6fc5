# cause: size
# subject: slice end
# old: 5
# new: 6

import jax
import jax.numpy as jnp
import numpy as np

lengths = np.array([5, 6])


def make_step(index):
    def step(x):
        valid = x[:int(lengths[index])]  # <- cause
        return jnp.mean(jnp.tanh(valid))
    return jax.jit(step)


x = np.ones((8, 2), np.float32)
make_step(0)(x)
make_step(1)(x)  # <- call
