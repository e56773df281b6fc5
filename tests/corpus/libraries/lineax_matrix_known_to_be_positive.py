# cause: structure
# run: EQX_ON_ERROR=nan
# reason: with the tag, AutoLinearSolver chooses Cholesky in place of LU

import functools

import jax
import jax.numpy as jnp
import lineax as lx
import numpy as np


@functools.partial(jax.jit, static_argnames="positive")
def newton_direction(hessian, gradient, positive):
    tags = lx.positive_semidefinite_tag if positive else ()
    operator = lx.MatrixLinearOperator(hessian, tags)
    solution = lx.linear_solve(operator, -gradient, lx.AutoLinearSolver(well_posed=True), throw=False)  # <- cause
    return solution.value


def quadratic(seed):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(5, 5)).astype(np.float32)
    return a @ a.T + np.eye(5, dtype=np.float32), rng.normal(size=5).astype(np.float32)


x = np.zeros(5, np.float32)
for iteration in range(4):
    hessian, gradient = quadratic(iteration)
    positive = iteration >= 2  # near the minimum
    x = x + np.asarray(newton_direction(hessian, gradient, positive))  # <- call
print(x)
