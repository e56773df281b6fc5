# cause: devices
# run: EQX_ON_ERROR=nan

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

term = diffrax.ODETerm(lambda t, y, args: jnp.tanh(y))
for device in jax.devices()[:2]:
    y0 = jax.device_put(np.ones(3, np.float32), device)
    diffrax.diffeqsolve(term, diffrax.Heun(), 0.0, 1.0, 0.1, y0)  # <- cause
