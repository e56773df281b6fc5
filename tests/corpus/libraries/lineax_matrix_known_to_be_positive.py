# cause: structure
# reason: of a matrix that is tagged as positive the solver takes the factor of Cholesky
# run: EQX_ON_ERROR=nan

import jax
import lineax as lx
import numpy as np


def make_solve(tags):
    @jax.jit
    def whiten(covariance, x):
        operator = lx.MatrixLinearOperator(covariance, tags)
        return lx.linear_solve(operator, x, lx.AutoLinearSolver(well_posed=True)).value  # <- cause

    return whiten


covariance = np.eye(4, dtype=np.float32) + 0.1
for tags in ((), (lx.positive_semidefinite_tag,)):
    make_solve(tags)(covariance, np.ones(4, np.float32))  # <- call
