# cause: structure
# reason: a matrix that is tagged as diagonal is divided by; a triangular one is solved row by row
# run: EQX_ON_ERROR=nan

import equinox as eqx
import lineax as lx
import numpy as np


@eqx.filter_jit
def solve(matrix, vector, diagonal):
    tags = lx.diagonal_tag if diagonal else lx.lower_triangular_tag
    operator = lx.MatrixLinearOperator(matrix, tags)
    return lx.linear_solve(operator, vector).value  # <- cause


matrix = 2 * np.eye(4, dtype=np.float32)
vector = np.ones(4, np.float32)
for diagonal in (False, True):
    solve(matrix, vector, diagonal)  # <- call
