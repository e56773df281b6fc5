# cause: dtype
# subject: b
# old: f32[3]
# new: i32[3]
# run: EQX_ON_ERROR=nan

import jax
import lineax as lx
import numpy as np

solver = lx.BiCGStab(rtol=1e-4, atol=1e-4, max_steps=5)


@jax.jit
def residual(a, b):
    x = lx.linear_solve(lx.DiagonalLinearOperator(a), b.astype(a.dtype), solver, throw=False).value
    return a * x - b


a = np.array([1.0, 2.0, 4.0], np.float32)
for b in ([1.0, 2.0, 3.0], [1, 2, 3]):
    array = np.asarray(b)
    residual(a, array.astype(np.float32 if array.dtype.kind == "f" else np.int32))  # <- cause
