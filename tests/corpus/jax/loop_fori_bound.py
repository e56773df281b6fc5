# cause: constant
# subject: rounds
# old: 3
# new: 5
# advice: fori_loop

import jax
import numpy as np
from jax import lax


def make_step(rounds):
    def step(x):
        return lax.fori_loop(0, rounds, lambda i, v: v * 0.5 + 1.0, x)  # <- cause
    return jax.jit(step)


x = np.ones(8, np.float32)
make_step(3)(x)
make_step(5)(x)  # <- call
