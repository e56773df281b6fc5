# cause: constant
# old: 50
# new: 200
# reason: the limit of the solver's loop

import functools

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np


def ridge(w, penalty, x, y):
    return jnp.mean((x @ w - y) ** 2) + penalty * jnp.sum(w ** 2)


@functools.partial(jax.jit, static_argnames="iterations")
def fit(w, penalty, x, y, iterations):
    solver = jaxopt.GradientDescent(ridge, maxiter=iterations, tol=1e-4, stepsize=0.05,
                                    acceleration=False)
    return solver.run(w, penalty, x, y).params  # <- cause


rng = np.random.default_rng(0)
x = rng.normal(size=(4, 12, 3)).astype(np.float32)
y = (x @ np.array([1.0, 2.0, -1.0], np.float32)).astype(np.float32)
w = np.zeros(3, np.float32)
for fold in range(4):
    iterations = 50 if fold < 3 else 200
    w = fit(w, np.float32(0.01), x[fold], y[fold], iterations=iterations)  # <- call
print(w)
