# cause: constant
# subject: penalty
# old: 0.1
# new: 0.01
# reason: each penalty of the search makes an objective and a solver of its own

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np

x, y = np.ones((8, 3), np.float32), np.ones(8, np.float32)


def fit(penalty):
    def objective(w, x, y):
        error = jnp.mean((x @ w - y) ** 2)
        return error + penalty * jnp.sum(w**2)  # <- cause

    solver = jaxopt.GradientDescent(objective, stepsize=0.1, maxiter=5, acceleration=False)
    start = np.zeros(3, np.float32)

    @jax.jit
    def run(start, x, y):
        return solver.run(start, x=x, y=y).params

    return run(start, x, y)  # <- call


for penalty in (0.1, 0.01):
    print(penalty, fit(penalty))
