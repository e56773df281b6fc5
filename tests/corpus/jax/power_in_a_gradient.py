# program: jit_loss
# cause: constant
# subject: power
# old: 2
# new: 3
# reason: the derivative multiplies by the exponent, and has a power of its own, one less

import jax
import numpy as np


def make_step(power):
    def loss(w, x):
        error = w * x - 1
        return (error ** power).mean()  # <- cause
    return jax.jit(jax.value_and_grad(loss))


w, x = np.ones(8, np.float32), np.ones(8, np.float32)
make_step(2)(w, x)
make_step(3)(w, x)  # <- call
