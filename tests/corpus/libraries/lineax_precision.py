# cause: precision
# old: unset
# new: 'highest'
# run: EQX_ON_ERROR=nan

import jax
import lineax as lx
import numpy as np

SOLVER = lx.CG(rtol=1e-3, atol=1e-3, max_steps=3)


@jax.jit
def normal_equations(design, targets):
    operator = lx.MatrixLinearOperator(design.T @ design, lx.positive_semidefinite_tag)  # <- cause
    return lx.linear_solve(operator, targets, SOLVER, throw=False).value


design, targets = np.eye(4, 3, dtype=np.float32), np.ones(3, np.float32)
normal_equations(design, targets)
with jax.default_matmul_precision("highest"):
    normal_equations(design, targets)  # <- call
