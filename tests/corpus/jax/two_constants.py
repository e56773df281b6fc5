# cause: constant
# subject: scale
# old: 0.1
# new: 0.2
# and
# cause: constant
# subject: power
# old: 1.5
# new: 2.5

import jax
import jax.numpy as jnp
import numpy as np


def make_step(scale, power):
    def step(x):
        scaled = jnp.exp(x) * scale  # <- cause
        return jnp.power(scaled, power)  # <- cause 2
    return jax.jit(step)


x = np.ones(8, np.float32)
make_step(0.1, 1.5)(x)
make_step(0.2, 2.5)(x)  # <- call, call 2
