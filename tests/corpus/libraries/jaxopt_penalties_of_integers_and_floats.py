# cause: dtype
# subject: penalty
# program: jit_fit
# reason: a grid of penalties is written as 0.1, 0.5, 1 and 10: the last two are integers

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np

GRID = [0.1, 0.5, 1, 10]


def objective(w, penalty, data):
    x, y = data
    logits = x @ w
    return jnp.mean(jax.nn.softplus(logits) - y * logits) + 0.5 * penalty * jnp.sum(w ** 2)


solver = jaxopt.GradientDescent(objective, stepsize=0.1, maxiter=12, tol=1e-3)


@jax.jit
def fit(w, penalty, data):
    return solver.run(w, penalty=penalty, data=data).params


@jax.jit
def accuracy(w, x, y):
    return jnp.mean((x @ w > 0) == (y > 0.5))


rng = np.random.default_rng(0)
x = rng.normal(size=(20, 3)).astype(np.float32)
y = (x[:, 0] + 0.3 * rng.normal(size=20) > 0).astype(np.float32)
train, held_out = (x[:14], y[:14]), (x[14:], y[14:])
best = None
for penalty in GRID:
    w = fit(np.zeros(3, np.float32), penalty, train)  # <- cause
    score = float(accuracy(w, *held_out))
    if best is None or score > best[0]:
        best = score, penalty
print(best)
