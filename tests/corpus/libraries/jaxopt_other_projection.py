# cause: structure
# reason: the weights have to lie in a box instead of on the simplex

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np
from jaxopt.projection import projection_non_negative, projection_simplex


def risk(weights, covariance):
    return weights @ covariance @ weights - 0.1 * jnp.sum(weights)


def allocate_with(projection):
    @jax.jit
    def allocate(start, covariance):
        solver = jaxopt.ProjectedGradient(risk, projection, maxiter=4)
        return solver.run(start, covariance=covariance).params  # <- cause

    return allocate


start = np.full(4, 0.25, np.float32)
covariance = np.eye(4, dtype=np.float32)
for projection in (projection_simplex, projection_non_negative):
    allocate_with(projection)(start, covariance)  # <- call
