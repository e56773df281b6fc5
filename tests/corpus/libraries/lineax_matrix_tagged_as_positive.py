# cause: structure
# reason: a tag tells that the matrix is positive definite, so another factorisation is chosen

import jax
import jax.numpy as jnp
import lineax as lx
import numpy as np


def make_posterior(positive):
    tags = lx.positive_semidefinite_tag if positive else ()

    @jax.jit
    def posterior_mean(covariance, targets):
        operator = lx.MatrixLinearOperator(covariance + 0.1 * jnp.eye(4), tags)
        return lx.linear_solve(operator, targets, throw=False).value  # <- cause

    return posterior_mean


covariance = np.eye(4, dtype=np.float32) + 0.1
for positive in (False, True):
    posterior_mean = make_posterior(positive)
    for row in range(2):
        posterior_mean(covariance, np.full(4, row, np.float32))  # <- call
