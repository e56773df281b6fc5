# cause: shape
# subject: x
# old: f32[12]
# new: f32[12,3]
# reason: the second recording has three channels, for which the filter is applied to each

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def energy(x, taps):
    if x.ndim == 1:
        smooth = jnp.convolve(x, taps, mode="same")
    else:
        smooth = jax.vmap(lambda c: jnp.convolve(c, taps, mode="same"), 1, 1)(x)
    return jnp.mean(smooth**2) + 0.5 * jnp.log(2 * jnp.pi * x.size)


taps = np.array([0.25, 0.5, 0.25], np.float32)
for recording in (np.ones(12, np.float32), np.ones(12, np.float32), np.ones((12, 3), np.float32)):
    print(float(energy(recording, taps)))  # <- cause
