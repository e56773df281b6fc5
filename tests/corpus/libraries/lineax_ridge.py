# cause: constant
# subject: ridge
# old: 0.1
# new: 0.5
# run: EQX_ON_ERROR=nan
# reason: the ridge of the regression is a Python number, which filter_jit makes static

import equinox as eqx
import jax.numpy as jnp
import lineax as lx
import numpy as np


@eqx.filter_jit
def regress(features, targets, ridge):
    gram = features.T @ features + ridge * jnp.eye(features.shape[1])  # <- cause
    operator = lx.MatrixLinearOperator(gram, lx.positive_semidefinite_tag)
    solver = lx.CG(rtol=1e-4, atol=1e-4)
    return lx.linear_solve(operator, features.T @ targets, solver).value


features = np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32)
targets = features.sum(1)
for ridge in (0.1, 0.5):
    regress(features, targets, ridge)  # <- call
