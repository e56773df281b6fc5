# cause: constant
# old: 0.01
# new: 0.0001
# advice: array

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np


def cosine(x):
    return jnp.cos(x)


def make_root(tol):
    solver = jaxopt.FixedPointIteration(fixed_point_fun=cosine, maxiter=10, tol=tol)

    @jax.jit
    def root(x0):
        return solver.run(x0).params  # <- cause
    return root


for tol in (1e-2, 1e-4):
    make_root(tol)(np.float32(0.5))  # <- call
