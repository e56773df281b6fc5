# cause: stable
# reason: a search over the regularisation, an array each time, with folds of one size

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np


def ridge(weights, l2reg, x, y):
    return jnp.mean((x @ weights - y) ** 2) + l2reg * jnp.sum(weights ** 2)


solver = jaxopt.GradientDescent(ridge, stepsize=0.1, maxiter=6)


@jax.jit
def fit(weights, l2reg, x, y):
    return solver.run(weights, l2reg, x, y)


@jax.jit
def score(weights, x, y):
    return jnp.mean((x @ weights - y) ** 2)


rng = np.random.default_rng(0)
x = rng.normal(size=(12, 3)).astype(np.float32)
y = x.sum(1)
best = {}
for l2reg in np.logspace(-3, 0, 3):
    scores = []
    for fold in range(3):
        held_out = np.arange(12) // 4 == fold
        found = fit(np.zeros(3, np.float32), np.float32(l2reg), x[~held_out], y[~held_out])
        scores.append(float(score(found.params, x[held_out], y[held_out])))
    best[float(l2reg)] = np.mean(scores)
print(min(best, key=best.get))
