# cause: structure
# program: jit_minimise

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np


def rosenbrock(x):
    return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def minimise_with(linesearch):
    @jax.jit
    def minimise(x):
        solver = jaxopt.BFGS(rosenbrock, linesearch=linesearch, maxiter=3, maxls=3)
        return solver.run(x).params  # <- cause
    return minimise


x = np.zeros(2, np.float32)
minimise_with("backtracking")(x)
minimise_with("hager-zhang")(x)  # <- call
