# cause: arguments
# subject: weights
# old: absent
# new: f32[9]
# run: EQX_ON_ERROR=nan
# advice: neutral
# reason: a robust fit starts without weights; the later rounds weigh the rows by their residuals

import equinox as eqx
import jax.numpy as jnp
import lineax as lx
import numpy as np

TAG = lx.positive_semidefinite_tag
solver = lx.CG(rtol=1e-4, atol=1e-4, max_steps=20)


@eqx.filter_jit
def fit(design, target, weights, ridge):
    weighted = design if weights is None else design * weights[:, None]
    gram = weighted.T @ design + ridge * jnp.eye(design.shape[1])
    return lx.linear_solve(lx.MatrixLinearOperator(gram, TAG), weighted.T @ target, solver).value


class RobustRegression:
    def __init__(self, rounds=4, ridge=1e-2):
        self.rounds, self.ridge = rounds, np.float32(ridge)

    def fit(self, design, target):
        weights = None
        for _ in range(self.rounds):
            self.coefficients = np.asarray(fit(design, target, weights, self.ridge))  # <- cause
            residual = target - design @ self.coefficients
            weights = (1 / (1 + residual ** 2)).astype(np.float32)
        return self


rng = np.random.default_rng(0)
design = rng.normal(size=(9, 3)).astype(np.float32)
target = (design @ np.array([1.0, -1.0, 0.5]) + 0.1 * rng.normal(size=9)).astype(np.float32)
target[4] += 5
print(RobustRegression().fit(design, target).coefficients)
