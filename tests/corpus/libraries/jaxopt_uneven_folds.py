# cause: shape
# old: f32[6,3]
# new: f32[7,3]
# reason: ten rows make folds of four, three and three

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np


def objective(params, x, y):
    logits = x @ params["w"] + params["b"]
    penalty = 0.01 * jnp.sum(params["w"] ** 2)
    return jnp.mean(jnp.logaddexp(0.0, -y * logits)) + penalty


solver = jaxopt.LBFGS(objective, maxiter=4, history_size=2, linesearch="backtracking")


@jax.jit
def fit(params, x, y):
    return solver.run(params, x, y).params


def cross_validate(x, y, folds):
    scores = []
    for held_out in np.array_split(np.arange(len(x)), folds):
        kept = np.setdiff1d(np.arange(len(x)), held_out)
        start = {"w": np.zeros(x.shape[1], np.float32), "b": np.float32(0.0)}
        params = fit(start, x[kept], y[kept])  # <- cause
        predicted = x[held_out] @ np.asarray(params["w"]) + float(params["b"])
        scores.append(np.mean(np.sign(predicted) == y[held_out]))
    return np.mean(scores)


rng = np.random.default_rng(0)
x = rng.normal(size=(10, 3)).astype(np.float32)
y = np.sign(x[:, 0] + 0.1).astype(np.float32)
print(cross_validate(x, y, folds=3))  # <- call
