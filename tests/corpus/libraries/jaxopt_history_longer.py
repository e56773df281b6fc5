# cause: size
# old: 3
# new: 5
# reason: the length of the history is a static number of the solver: the size of what it keeps, and the bound of its loop

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np


def loss(w, x, y):
    return jnp.mean(jnp.log1p(jnp.exp(-y * (x @ w))))


def fit_with(history):
    @jax.jit
    def fit(start, x, y):
        solver = jaxopt.LBFGS(loss, maxiter=4, history_size=history, linesearch="backtracking")
        return solver.run(start, x, y).params  # <- cause

    return fit


x, y = np.ones((6, 4), np.float32), np.ones(6, np.float32)
for history in (3, 5):
    fit_with(history)(np.zeros(4, np.float32), x, y)  # <- call
