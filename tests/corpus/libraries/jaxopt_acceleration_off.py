# cause: structure
# reason: the second fit does without the momentum of the proximal steps

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np
from jaxopt.prox import prox_lasso


def residual(weights, x, y):
    return 0.5 * jnp.mean((x @ weights - y) ** 2)


def lasso_with(acceleration):
    @jax.jit
    def lasso(weights, x, y):
        solver = jaxopt.ProximalGradient(residual, prox_lasso, stepsize=0.1, maxiter=5,
                                         acceleration=acceleration)
        return solver.run(weights, 0.1, x, y).params  # <- cause

    return lasso


x = np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32)
for acceleration in (True, False):
    lasso_with(acceleration)(np.zeros(3, np.float32), x, x.sum(1))  # <- call
