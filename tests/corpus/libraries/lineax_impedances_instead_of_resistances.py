# cause: dtype
# subject: matrix
# old: f32[3,3]
# new: c64[3,3]
# reason: alternating current makes the network's matrix and currents complex
# run: EQX_ON_ERROR=nan

import jax
import jax.numpy as jnp
import lineax as lx
import numpy as np


@jax.jit
def voltages(matrix, currents):
    solution = lx.linear_solve(lx.MatrixLinearOperator(matrix), currents, lx.BiCGStab(rtol=1e-4, atol=1e-4))
    return jnp.abs(solution.value)


matrix, currents = np.eye(3, dtype=np.float32) + 0.5, np.ones(3, np.float32)
voltages(matrix, currents)
voltages(matrix.astype(np.complex64), currents.astype(np.complex64))  # <- cause
