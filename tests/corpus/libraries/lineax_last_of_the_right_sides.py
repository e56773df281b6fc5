# cause: shape
# subject: rights
# old: f32[4,3]
# new: f32[1,3]
# reason: one matrix, many right sides, in batches of which the last has one
# run: EQX_ON_ERROR=nan

import jax
import lineax as lx
import numpy as np


@jax.jit
def solve_all(matrix, rights):
    operator = lx.MatrixLinearOperator(matrix, lx.positive_semidefinite_tag)
    solver = lx.CG(rtol=1e-4, atol=1e-4)
    return jax.vmap(lambda right: lx.linear_solve(operator, right, solver).value)(rights)


matrix = np.eye(3, dtype=np.float32) * 2 + 0.1
rights = np.ones((9, 3), np.float32)
for start in range(0, 9, 4):
    solve_all(matrix, rights[start:start + 4])  # <- cause
