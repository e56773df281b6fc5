# cause: devices
# subject: mesh of devices
# old: 2
# new: 4
# program: jit__fun

import jax
import numpy as np


def step(x):
    return jax.lax.pmean(x * 2.0, "replica")


mapped = jax.pmap(step, axis_name="replica")
mapped(np.ones((2, 8), np.float32))
mapped(np.ones((4, 8), np.float32))  # <- cause
