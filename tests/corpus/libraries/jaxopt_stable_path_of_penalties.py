# cause: stable
# reason: a path of penalties, each fit started from the last, and held-out errors of one size

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np
from jaxopt.prox import prox_lasso

rng = np.random.default_rng(0)
x = rng.normal(size=(12, 5)).astype(np.float32)
y = x[:, 0] - 2 * x[:, 3]
solver = jaxopt.ProximalGradient(jaxopt.objective.least_squares, prox_lasso, maxiter=8, tol=1e-3)


@jax.jit
def fit(w, penalty, data):
    return solver.run(w, penalty, data).params


@jax.jit
def error(w, data):
    x, y = data
    return jnp.mean((x @ w - y) ** 2)


for fold in range(2):
    held = slice(6 * fold, 6 * fold + 6)
    rest = slice(6 - 6 * fold, 12 - 6 * fold)
    w = np.zeros(5, np.float32)
    for penalty in np.geomspace(1.0, 0.01, 4).astype(np.float32):
        w = fit(w, penalty, (x[rest], y[rest]))
        print(fold, float(penalty), float(error(w, (x[held], y[held]))))
