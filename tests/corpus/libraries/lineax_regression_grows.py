# cause: shape
# subject: features
# old: f32[6,2]
# new: f32[7,2]
# pattern: unpadded
# advice: pad
# reason: a least-squares fit that is made again with each observation; the targets grow with the features

import jax
import lineax as lx
import numpy as np


@jax.jit
def fit(features, targets):
    operator = lx.MatrixLinearOperator(features)
    solver = lx.Normal(lx.CG(rtol=1e-3, atol=1e-3))
    return lx.linear_solve(operator, targets, solver, throw=False).value


rng = np.random.default_rng(0)
features, targets = [], []
for number in range(7):
    features.append(rng.normal(size=2))
    targets.append(rng.normal())
    if number >= 3:
        fit(np.array(features, np.float32), np.array(targets, np.float32))  # <- cause
