# cause: stable
# reason: one solver for all columns, run in a jitted function; the penalty is an array

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np


def objective(params, penalty, data):
    x, y = data
    return jnp.mean(jnp.logaddexp(0.0, -y * (x @ params))) + penalty * jnp.sum(params ** 2)


solver = jaxopt.LBFGS(objective, maxiter=5, history_size=3)


@jax.jit
def fit(start, penalty, data):
    params, state = solver.run(start, penalty, data)
    return params, state.iter_num


@jax.jit
def predict(params, x):
    return jnp.where(x @ params > 0, 1, -1)


rng = np.random.default_rng(0)
x = rng.normal(size=(10, 3))
columns = np.where(rng.normal(size=(10, 4)) > 0, 1.0, -1.0)
params = np.zeros(3, np.float32)
for column in range(4):
    params, rounds = fit(params, np.float32(0.1 / (column + 1)), (x, columns[:, column]))
    print(int(rounds), np.mean(np.asarray(predict(params, x)) == columns[:, column]))
