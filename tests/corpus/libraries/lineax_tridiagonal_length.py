# cause: shape
# subject: diagonal
# old: f32[6]
# new: f32[4]
# run: EQX_ON_ERROR=nan

import equinox as eqx
import lineax as lx
import numpy as np


@eqx.filter_jit
def diffuse(diagonal, off_diagonal, u):
    operator = lx.TridiagonalLinearOperator(diagonal, off_diagonal, off_diagonal)
    return lx.linear_solve(operator, u, lx.BiCGStab(rtol=1e-3, atol=1e-3)).value


def steps(cells):
    u = np.ones(cells, np.float32)
    for _ in range(2):
        u = diffuse(3.0 * np.ones(cells, np.float32), np.ones(cells - 1, np.float32), u)  # <- cause
    return u


steps(6)
steps(4)
