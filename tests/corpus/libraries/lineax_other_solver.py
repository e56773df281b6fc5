# cause: structure
# run: EQX_ON_ERROR=nan

import jax.numpy as jnp
import lineax as lx
import numpy as np

A = jnp.asarray(np.eye(4, dtype=np.float32) + 0.1)
b = jnp.asarray(np.ones(4, np.float32))
SOLVERS = {"cg": lx.CG(rtol=1e-3, atol=1e-3), "bicgstab": lx.BiCGStab(rtol=1e-3, atol=1e-3)}

for name, solver in SOLVERS.items():
    operator = lx.MatrixLinearOperator(A, lx.positive_semidefinite_tag)
    x = lx.linear_solve(operator, b, solver).value  # <- cause
