# cause: weak_type
# subject: l2reg
# old: weak f32[]
# new: f32[]
# advice: asarray

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np


@jax.jit
def objective_gradient(w, l2reg, data):
    return jax.grad(jaxopt.objective.ridge_regression)(w, l2reg=l2reg, data=data)


x, y = np.ones((4, 2), np.float16), np.ones(4, np.float16)
w = np.zeros(2, np.float16)
for l2reg in (0.1, np.float32(0.2)):
    objective_gradient(w, l2reg, (x, y))  # <- cause
