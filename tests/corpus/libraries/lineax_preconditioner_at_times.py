# cause: arguments
# subject: options['preconditioner'].matrix
# old: absent
# new: f32[4,4]
# run: EQX_ON_ERROR=nan

import jax.numpy as jnp
import lineax as lx
import numpy as np

TAG = lx.positive_semidefinite_tag
A = lx.MatrixLinearOperator(jnp.asarray(np.diag(np.float32([4, 3, 2, 1]))), TAG)
b = jnp.asarray(np.ones(4, np.float32))
solver = lx.CG(rtol=1e-3, atol=1e-3)

lx.linear_solve(A, b, solver, options={})
inverse = lx.MatrixLinearOperator(jnp.asarray(np.eye(4, dtype=np.float32)), TAG)
lx.linear_solve(A, b, solver, options={"preconditioner": inverse})  # <- cause
