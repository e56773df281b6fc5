# cause: structure
# run: EQX_ON_ERROR=nan
# reason: told that the matrix is definite, lineax chooses Cholesky instead of LU

import equinox as eqx
import jax.numpy as jnp
import lineax as lx
import numpy as np


class Kriging(eqx.Module):
    scale: float
    noise: float

    def covariance(self, x):
        distance = jnp.abs(x[:, None] - x[None, :])
        return jnp.exp(-distance / self.scale) + self.noise * jnp.eye(x.shape[0])


@eqx.filter_jit
def weights(kriging, x, y, definite):
    tags = lx.positive_semidefinite_tag if definite else ()
    operator = lx.MatrixLinearOperator(kriging.covariance(x), tags)
    return lx.linear_solve(operator, y, solver=lx.AutoLinearSolver(well_posed=True)).value  # <- cause


kriging = Kriging(0.5, 0.1)
rng = np.random.default_rng(0)
x = np.linspace(0.0, 1.0, 6, dtype=np.float32)
for definite in (False, False, True):
    y = np.sin(3 * x) + 0.1 * rng.normal(size=6).astype(np.float32)
    found = weights(kriging, x, y.astype(np.float32), definite)  # <- call
    print(definite, float(jnp.sum(found)))
