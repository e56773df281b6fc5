# cause: constant
# subject: scale
# old: 0.5
# new: 0.25
# advice: array argument
# reason: the scale is an array without dimensions that the function closes over

import jax
import jax.numpy as jnp
import numpy as np


def contrast(scale):
    @jax.jit
    def apply(picture):
        centre = picture.mean()
        return jnp.tanh(picture - centre) * scale + centre  # <- cause

    return apply


picture = np.arange(12, dtype=np.float32).reshape(3, 4)
for scale in (jnp.float32(0.5), jnp.float32(0.25)):
    enhance = contrast(scale)
    for _ in range(2):
        enhance(picture)  # <- call
