# cause: structure
# subject: levels
# old: range(0, 2)
# new: range(0, 3)
# reason: the levels are a static range, and the last call asks for one more

import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnums=1)
def pyramid(signal, levels):
    rough = signal
    for level in levels:
        rough = 0.5 * (rough + jnp.roll(rough, 2 ** level))  # <- cause
    return jnp.abs(signal - rough).max()


signal = np.cos(np.arange(16, dtype=np.float32))
for levels in (range(2), range(2), range(3)):
    pyramid(signal, levels)  # <- call
