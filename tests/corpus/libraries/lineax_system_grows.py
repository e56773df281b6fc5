# cause: shape
# subject: operator.matrix
# old: f32[3,3]
# new: f32[5,5]
# program: jit_linear_solve
# run: EQX_ON_ERROR=nan

import jax.numpy as jnp
import lineax as lx
import numpy as np


def solve(size):
    matrix = jnp.asarray(np.eye(size, dtype=np.float32) * 3)
    operator = lx.MatrixLinearOperator(matrix)
    vector = jnp.asarray(np.ones(size, np.float32))
    solution = lx.linear_solve(operator, vector, lx.BiCGStab(rtol=1e-3, atol=1e-3))  # <- cause
    return solution.value


solve(3)
solve(5)
