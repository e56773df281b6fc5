# cause: shape
# subject: bounds[0]
# old: f32[]
# new: f32[4]
# reason: first one pair of bounds for all, then a pair for each variable

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np
from jaxopt.projection import projection_box


def squares(w, x, y):
    return jnp.mean((x @ w - y) ** 2)


solver = jaxopt.ProjectedGradient(squares, projection_box, stepsize=0.1, maxiter=5)


@jax.jit
def fit(w, bounds, x, y):
    return solver.run(w, hyperparams_proj=bounds, x=x, y=y).params


w, x, y = np.zeros(4, np.float32), np.ones((6, 4), np.float32), np.ones(6, np.float32)
fit(w, (np.float32(0), np.float32(1)), x, y)
fit(w, (np.zeros(4, np.float32), np.array([1, 1, 2, 2], np.float32)), x, y)  # <- cause
