# cause: structure
# reason: a matrix that is tagged as positive definite is factorised by Cholesky instead of LU
# run: EQX_ON_ERROR=nan

import equinox as eqx
import lineax as lx
import numpy as np


@eqx.filter_jit
def solve(matrix, vector, definite):
    tags = lx.positive_semidefinite_tag if definite else ()
    operator = lx.MatrixLinearOperator(matrix, tags)
    return lx.linear_solve(operator, vector).value  # <- cause


matrix = np.eye(4, dtype=np.float32) + 0.1
vector = np.ones(4, np.float32)
for definite in (False, True):
    solve(matrix, vector, definite)  # <- call
