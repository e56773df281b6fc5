# cause: shape
# old: f32[12,3]
# new: f32[7,3]
# program: jit_while

import jax.numpy as jnp
import jaxopt
import numpy as np


def ridge(w, x, y):
    return jnp.mean((x @ w - y) ** 2) + 0.1 * jnp.sum(w ** 2)


solver = jaxopt.GradientDescent(ridge, stepsize=0.1, maxiter=4)


def fit(rows):
    x, y = np.ones((rows, 3), np.float32), np.ones(rows, np.float32)
    return solver.run(np.zeros(3, np.float32), x, y).params  # <- cause


for rows in (12, 7):
    fit(rows)
