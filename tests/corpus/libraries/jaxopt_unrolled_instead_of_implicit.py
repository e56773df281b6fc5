# cause: structure
# reason: the gradient goes through the iterations instead of through the optimality condition

import functools

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np


def ridge(w, strength, x, y):
    return jnp.mean((x @ w - y) ** 2) + strength * jnp.sum(w ** 2)


@functools.partial(jax.jit, static_argnames="implicit")
def hypergradient(strength, x, y, implicit):
    def validation(strength):
        solver = jaxopt.GradientDescent(ridge, maxiter=4, stepsize=0.1, acceleration=False,
                                        implicit_diff=implicit)
        w = solver.run(jnp.zeros(3), strength, x, y).params  # <- cause
        return jnp.mean((x @ w - y) ** 2)

    return jax.grad(validation)(strength)


x, y = np.ones((5, 3), np.float32), np.ones(5, np.float32)
for implicit in (True, False):
    hypergradient(np.float32(0.1), x, y, implicit=implicit)  # <- call
