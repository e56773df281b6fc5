# cause: shape
# subject: params
# old: f32[3,13]
# new: f32[3,19]
# reason: a spline of 4 bins has 13 parameters, one of 6 bins 19; the slices of them follow

import distrax
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def nll(params, x):
    spline = distrax.RationalQuadraticSpline(params, range_min=-2.0, range_max=2.0)
    y, log_det = spline.forward_and_log_det(x)
    return jnp.mean(0.5 * y ** 2 - log_det)


x = np.linspace(-1, 1, 3, dtype=np.float32)
for bins in (4, 6):
    nll(np.zeros((3, 3 * bins + 1), np.float32), x)  # <- cause
