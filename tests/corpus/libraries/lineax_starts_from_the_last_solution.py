# cause: arguments
# subject: guess
# old: absent
# new: f32[4]
# advice: same keys | zeros | every call
# reason: the first solve has no solution to start from

import jax
import lineax as lx
import numpy as np


@jax.jit
def solve(matrix, vector, guess=None):
    operator = lx.MatrixLinearOperator(matrix, lx.positive_semidefinite_tag)
    solver = lx.CG(rtol=1e-4, atol=1e-4, max_steps=20)
    options = {} if guess is None else {"y0": guess}
    return lx.linear_solve(operator, vector, solver, options=options, throw=False).value


class Simulation:
    def __init__(self, matrix):
        self.matrix = matrix
        self.solution = None

    def advance(self, load):
        self.solution = solve(self.matrix, load, self.solution)  # <- cause


simulation = Simulation(np.eye(4, dtype=np.float32) * 2)
for step in range(3):
    simulation.advance(np.full(4, step, np.float32))  # <- call
