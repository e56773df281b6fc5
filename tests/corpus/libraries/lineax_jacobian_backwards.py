# cause: structure
# run: EQX_ON_ERROR=nan
# reason: the Jacobian of the residual is taken in reverse mode instead of in forward mode, by a setting

import functools

import jax
import jax.numpy as jnp
import lineax as lx
import numpy as np


def residual(x, args):
    target, weight = args
    return jnp.tanh(weight @ x) - target


@functools.partial(jax.jit, static_argnames="mode")
def gauss_newton(x, target, weight, mode):
    args = (target, weight)
    operator = lx.JacobianLinearOperator(residual, x, args, jac=mode)
    solver = lx.Normal(lx.CG(rtol=1e-3, atol=1e-3, max_steps=6))
    step = lx.linear_solve(operator, residual(x, args), solver, throw=False).value
    return x - step


x, target = np.full(3, 0.1, np.float32), np.full(3, 0.2, np.float32)
weight = np.diag(np.arange(1, 4)).astype(np.float32)
for mode in ("fwd", "bwd"):
    for _ in range(2):
        x = np.asarray(gauss_newton(x, target, weight, mode=mode))  # <- call
