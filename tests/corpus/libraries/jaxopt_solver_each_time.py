# cause: retrace
# program: jit_while
# advice: once | partial in the loop | __eq__

import jax.numpy as jnp
import jaxopt
import numpy as np


def objective(w, target):
    return jnp.sum((w - target) ** 2)


w = np.zeros(3, np.float32)
for target in np.eye(3, dtype=np.float32):
    solver = jaxopt.LBFGS(fun=objective, maxiter=3, history_size=2)
    w, state = solver.run(w, target)  # <- cause
