# cause: stable
# reason: one operator and one solver, other numbers in each solve
# run: EQX_ON_ERROR=nan
# run: EQX_ON_ERROR=nan

import jax.numpy as jnp
import lineax as lx
import numpy as np

solver = lx.CG(rtol=1e-4, atol=1e-4)
rng = np.random.default_rng(0)
for _ in range(4):
    half = rng.normal(size=(4, 4)).astype(np.float32)
    operator = lx.MatrixLinearOperator(jnp.asarray(half @ half.T + np.eye(4, dtype=np.float32)),
                                       lx.positive_semidefinite_tag)
    solution = lx.linear_solve(operator, jnp.asarray(rng.normal(size=4).astype(np.float32)), solver)
    print(solution.result == lx.RESULTS.successful, np.asarray(solution.value))
