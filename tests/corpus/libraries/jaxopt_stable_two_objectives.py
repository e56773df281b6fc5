# cause: stable
# reason: two solvers of two objectives, each jitted once, as run; warm starts from the last solution

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np


def least_squares(w, x, y):
    return jnp.mean((x @ w - y) ** 2)


def logistic(w, x, y):
    return jnp.mean(jax.nn.softplus(-(2 * y - 1) * (x @ w)))


rng = np.random.default_rng(0)
x = rng.normal(size=(8, 3))
fit_line = jax.jit(jaxopt.LBFGS(least_squares, maxiter=4).run)
fit_class = jax.jit(jaxopt.GradientDescent(logistic, maxiter=4, stepsize=0.1).run)
line = klass = np.zeros(3)
for _ in range(3):
    y = rng.normal(size=8)
    line = fit_line(line, x, y).params
    klass = fit_class(klass, x, y > 0).params
print(np.asarray(line), np.asarray(klass))
