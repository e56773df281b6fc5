# cause: retrace
# program: jit_while
# advice: jit
# reason: run makes the function of its loop anew at each call; jitted whole it does so once

import jax.numpy as jnp
import jaxopt
import numpy as np


def loss(params, x, y):
    return jnp.mean((x @ params - y) ** 2)


solver = jaxopt.ProximalGradient(loss, jaxopt.prox.prox_lasso, maxiter=5, stepsize=0.05)
x = np.eye(4, 3, dtype=np.float32)
for column in range(3):
    start = np.zeros(3, np.float32)
    params, state = solver.run(start, 0.1, x, np.full(4, column, np.float32))  # <- cause
