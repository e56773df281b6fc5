# cause: shape
# subject: x
# old: f32[8,4]
# new: f32[3,4]
# and
# cause: constant
# subject: MARGIN
# old: 1.0
# new: 0.5
# reason: the last call has a short batch and another margin, and both decide something

import jax
import jax.numpy as jnp
import numpy as np

MARGIN = 1.0


@jax.jit
def hinge(w, x, sign):
    return jnp.mean(jnp.maximum(0.0, MARGIN - sign * (x @ w)))  # <- cause 2


w = jnp.ones(4)
x, sign = np.ones((8, 4), np.float32), np.ones(8, np.float32)
print(float(hinge(w, x, sign)))
print(float(hinge(w, x, sign)))
MARGIN = 0.5
print(float(hinge(w, x[:3], sign[:3])))  # <- cause, call 2
