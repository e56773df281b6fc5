# cause: shape
# subject: weights
# old: f32[4,2]
# new: f32[4,3]
# reason: the second data set has three classes; its labels are as many as before

import jax
import jaxopt
import numpy as np
from jaxopt.objective import l2_multiclass_logreg

solver = jaxopt.LBFGS(l2_multiclass_logreg, maxiter=3)


@jax.jit
def fit(weights, l2reg, data):
    return solver.run(weights, l2reg, data).params


x = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
for labels in (np.array([0, 1, 0, 1, 1, 0]), np.array([0, 1, 2, 1, 2, 0])):
    weights = np.zeros((4, labels.max() + 1), np.float32)
    fit(weights, np.float32(0.1), (x, labels))  # <- cause
