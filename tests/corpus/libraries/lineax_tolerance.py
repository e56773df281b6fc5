# cause: constant
# old: 0.001
# new: 1e-05
# run: EQX_ON_ERROR=nan

import jax.numpy as jnp
import lineax as lx
import numpy as np

matrix = jnp.asarray(np.diag(np.arange(1.0, 5.0, dtype=np.float32)))
operator = lx.MatrixLinearOperator(matrix, lx.positive_semidefinite_tag)
rhs = jnp.asarray(np.ones(4, np.float32))


def solve(rtol):
    return lx.linear_solve(operator, rhs, solver=lx.CG(rtol=rtol, atol=1e-4)).value  # <- cause


for rtol in (1e-3, 1e-5):
    solve(rtol)
