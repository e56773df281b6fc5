# cause: structure
# reason: the residual is computed anew in every tenth step, or in none
# run: EQX_ON_ERROR=nan

import equinox as eqx
import lineax as lx
import numpy as np


@eqx.filter_jit
def solve(matrix, vector, every):
    operator = lx.MatrixLinearOperator(matrix, lx.positive_semidefinite_tag)
    solver = lx.CG(rtol=1e-4, atol=1e-4, stabilise_every=every)
    return lx.linear_solve(operator, vector, solver).value  # <- cause


matrix = np.eye(4, dtype=np.float32) + 0.1
vector = np.ones(4, np.float32)
for every in (None, 10):
    solve(matrix, vector, every)  # <- call
