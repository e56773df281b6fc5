# cause: constant
# subject: tolerance
# old: 0.125
# new: 0.0078125
# reason: the loop goes on until the residual is below a static tolerance

import functools

import jax
import jax.numpy as jnp
import numpy as np


def residual(matrix, x, b):
    return b - matrix @ x


@functools.partial(jax.jit, static_argnames="tolerance")
def jacobi(matrix, b, *, tolerance):
    diagonal = jnp.diagonal(matrix)

    def unfinished(state):
        x, rounds = state
        return (jnp.max(jnp.abs(residual(matrix, x, b))) > tolerance) & (rounds < 50)  # <- cause

    def improve(state):
        x, rounds = state
        return x + residual(matrix, x, b) / diagonal, rounds + 1

    return jax.lax.while_loop(unfinished, improve, (jnp.zeros_like(b), 0))


matrix, b = np.eye(3, dtype=np.float32) * 4 + 1, np.ones(3, np.float32)
for tolerance in (2.0 ** -3, 2.0 ** -3, 2.0 ** -7):
    x, rounds = jacobi(matrix, b, tolerance=tolerance)  # <- call
