# cause: constant
# old: 5
# new: 20
# reason: the bound of the loop is what the solver makes of maxiter

import functools

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np


def logistic(w, x, y):
    return jnp.mean(jnp.logaddexp(0.0, -y * (x @ w)))


@functools.partial(jax.jit, static_argnames=("maxiter",))
def train(w, x, y, maxiter):
    solver = jaxopt.GradientDescent(logistic, stepsize=0.5, maxiter=maxiter, acceleration=False)
    return solver.run(w, x, y).params  # <- cause


w, x, y = np.zeros(2, np.float32), np.ones((6, 2), np.float32), np.ones(6, np.float32)
train(w, x, y, maxiter=5)
train(w, x, y, maxiter=20)  # <- call
