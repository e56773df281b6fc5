# cause: constant
# reason: singular values below a share of the largest are taken as zero; the share is a number of the solver

import equinox as eqx
import jax
import lineax as lx
import numpy as np


class Fit(eqx.Module):
    rcond: float = eqx.field(static=True)

    @eqx.filter_jit
    def __call__(self, design, targets):
        operator = lx.MatrixLinearOperator(design)
        return lx.linear_solve(operator, targets, lx.SVD(rcond=self.rcond), throw=False).value  # <- cause


design, targets = np.eye(5, 3, dtype=np.float32) + 0.5, np.ones(5, np.float32)
for rcond in (1e-4, 1e-2):
    fit = Fit(rcond)
    for _ in range(2):
        print(np.asarray(fit(design, targets)))  # <- call
