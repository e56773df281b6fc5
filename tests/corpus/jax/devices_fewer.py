# cause: devices
# subject: device count
# old: 4
# new: 2
# run: 4
# run: 2

import sys

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_num_cpu_devices", int(sys.argv[1]))


@jax.jit
def step(x):
    return jnp.tanh(x) * 0.5


assert jax.device_count() == int(sys.argv[1])
step(np.ones(8, np.float32))  # <- cause
