# cause: shape
# subject: constraints[0]
# old: f32[1,3]
# new: f32[2,3]
# reason: the portfolio gets a second constraint: a row of the matrix and an entry of the right side

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np

solver = jaxopt.EqualityConstrainedQP()


@jax.jit
def weights(returns, constraints):
    centred = returns - returns.mean(axis=0)
    covariance = centred.T @ centred + 0.5 * jnp.eye(3)
    return solver.run(params_obj=(covariance, -returns.mean(axis=0)), params_eq=constraints).params.primal


returns = np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32)
budget = np.ones((1, 3), np.float32), np.ones(1, np.float32)
sectors = np.array([[1, 1, 1], [1, 0, 0]], np.float32), np.array([1, 0.25], np.float32)
for constraints in (budget, budget, sectors):
    weights(returns, constraints)  # <- cause
