# cause: structure
# reason: the product with the Hessian becomes a matrix before the solve, an option of the second trial
# run: EQX_ON_ERROR=nan

import functools

import jax
import jax.numpy as jnp
import lineax as lx
import numpy as np


def loss(w, x):
    return jnp.mean(jnp.logaddexp(0.0, x @ w)) + 0.5 * jnp.sum(w ** 2)


@functools.partial(jax.jit, static_argnames="as_matrix")
def newton(w, x, as_matrix):
    gradient = jax.grad(loss)
    hessian = lx.JacobianLinearOperator(lambda w, _: gradient(w, x), w, tags=lx.positive_semidefinite_tag)
    if as_matrix:
        hessian = lx.materialise(hessian)  # <- cause
    solution = lx.linear_solve(hessian, gradient(w, x), lx.CG(rtol=1e-3, atol=1e-3))
    return w - solution.value


w, x = np.zeros(3, np.float32), np.ones((6, 3), np.float32)
for as_matrix in (False, True):
    newton(w, x, as_matrix=as_matrix)  # <- call
