# cause: constant
# old: 5
# new: 20
# run: EQX_ON_ERROR=nan
# reason: the solver may take more iterations; the limit is a setting of the solver

import jax
import lineax as lx
import numpy as np


def solve_within(max_steps):
    @jax.jit
    def solve(diagonal, vector):
        operator = lx.FunctionLinearOperator(lambda x: diagonal * x + 0.1 * x.sum(),
                                             jax.eval_shape(lambda: vector),
                                             lx.positive_semidefinite_tag)
        solver = lx.CG(rtol=1e-3, atol=1e-3, max_steps=max_steps)
        return lx.linear_solve(operator, vector, solver, throw=False).value  # <- cause

    return solve


diagonal, vector = np.linspace(1, 2, 5, dtype=np.float32), np.ones(5, np.float32)
for max_steps in (5, 20):
    solve_within(max_steps)(diagonal, vector)  # <- call
