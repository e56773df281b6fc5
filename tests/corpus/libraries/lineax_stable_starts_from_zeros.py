# cause: stable
# reason: the first solve starts from zeros, each later one from the last solution

import jax
import lineax as lx
import numpy as np


@jax.jit
def solve(matrix, vector, guess):
    operator = lx.MatrixLinearOperator(matrix, lx.positive_semidefinite_tag)
    solver = lx.CG(rtol=1e-4, atol=1e-4, max_steps=20)
    solution = lx.linear_solve(operator, vector, solver, options={"y0": guess}, throw=False)
    return solution.value, solution.stats["num_steps"]


guess = np.zeros(4, np.float32)
for step in range(4):
    matrix = np.diag(np.arange(1, 5)).astype(np.float32) + np.float32(step)
    guess, steps = solve(matrix, np.ones(4, np.float32), guess)
    print(int(steps))
