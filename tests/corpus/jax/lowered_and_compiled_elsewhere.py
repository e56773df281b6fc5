# cause: shape
# subject: x
# old: f32[8]
# new: f32[4]
# reason: what was lowered on one line is compiled on another

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(x):
    return jnp.exp(x).sum() * 2


lowered = [
    step.lower(np.ones(size, np.float32)) for size in (8, 4)  # <- cause
]
for one in lowered:
    one.compile()
