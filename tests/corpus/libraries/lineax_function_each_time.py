# cause: retrace
# advice: once | partial in the loop | __eq__
# run: EQX_ON_ERROR=nan

import jax
import jax.numpy as jnp
import lineax as lx
import numpy as np

b = jnp.asarray(np.ones(3, np.float32))


def newton_direction(x):
    structure = jax.eval_shape(lambda: b)
    hessian = lx.FunctionLinearOperator(lambda v: 2.0 * v, structure, lx.positive_semidefinite_tag)
    return lx.linear_solve(hessian, x, lx.CG(rtol=1e-3, atol=1e-3)).value  # <- cause


x = b
for _ in range(3):
    x = newton_direction(x)
