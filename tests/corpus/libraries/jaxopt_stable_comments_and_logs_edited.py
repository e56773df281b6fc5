# cause: stable
# run: short
# run: long
# reason: between the runs a comment, a docstring and a message of the training module are edited

import pathlib
import sys

words = {"short": ("", "Fits.", "print('error', error)"),
         "long": ("# The errors are those of the held-out rows.\n# They are not weighted.",
                  "Fits a ridge regression\n    and tells its error.",
                  "print(f'error of the held-out rows: {error:.3f}')")}[sys.argv[1]]
pathlib.Path("ridge.py").write_text(f'''import jax
import jax.numpy as jnp
import jaxopt
import numpy as np
{words[0]}


def objective(weights, penalty, data):
    x, y = data
    return jnp.mean((x @ weights - y) ** 2) + penalty * jnp.sum(weights ** 2)


solver = jaxopt.GradientDescent(objective, maxiter=15)


@jax.jit
def fit(weights, penalty, data):
    """{words[1]}"""
    return solver.run(weights, penalty, data).params


def report(error):
    {words[2]}


def main():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(8, 3)).astype(np.float32)
    y = x.sum(axis=1)
    weights = np.zeros(3, np.float32)
    for penalty in (0.1, 0.01, 0.001):
        weights = fit(weights, np.float32(penalty), (x[:6], y[:6]))
        report(float(np.abs(x[6:] @ np.asarray(weights) - y[6:]).mean()))
''')
sys.path.insert(0, str(pathlib.Path.cwd()))
import ridge

ridge.main()
