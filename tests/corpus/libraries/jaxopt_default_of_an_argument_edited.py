# cause: edit
# old: def make_solver(history=4, iterations=10):
# new: def make_solver(history=8, iterations=10):
# program: jit_fit
# run: write 4
# run: fit
# run: write 8
# run: fit
# reason: the default of a function that makes the solver is edited

import pathlib
import sys

if sys.argv[1] == "write":
    pathlib.Path("solvers.py").write_text(f'''import jax
import jax.numpy as jnp
import jaxopt


def objective(weights, data, penalty):
    features, labels = data
    losses = jnp.logaddexp(0.0, -labels * (features @ weights))
    return losses.mean() + penalty * jnp.sum(weights ** 2)


def make_solver(history={sys.argv[2]}, iterations=10):
    return jaxopt.LBFGS(objective, maxiter=iterations, history_size=history,
                        linesearch="backtracking")
''')
    raise SystemExit

sys.path.insert(0, str(pathlib.Path.cwd()))
import jax
import numpy as np

import solvers

solver = solvers.make_solver()


@jax.jit
def fit(weights, data, penalty):
    return solver.run(weights, data, penalty).params


def folds(rng, count):
    features = rng.normal(size=(12, 3)).astype(np.float32)
    labels = np.sign(features @ np.array([1, -2, 0.5], np.float32))
    for fold in range(count):
        kept = np.arange(12) % count != fold
        yield features[kept], labels[kept]


for data in folds(np.random.default_rng(0), 3):
    weights = fit(np.zeros(3, np.float32), data, np.float32(0.01))
print(np.asarray(weights))
