# cause: dtype
# subject: precision
# old: f32[4,4]
# new: bf16[4,4]
# run: EQX_ON_ERROR=nan
# reason: the matrix of the second model was stored in bfloat16; it is converted inside the solve

import jax
import jax.numpy as jnp
import lineax as lx
import numpy as np

SOLVER = lx.CG(rtol=1e-3, atol=1e-3, max_steps=8)


@jax.jit
def posterior_mean(precision, information, observed):
    operator = lx.MatrixLinearOperator(precision.astype(jnp.float32), lx.positive_semidefinite_tag)
    solution = lx.linear_solve(operator, information, SOLVER, throw=False)
    mean = solution.value
    return mean, jnp.mean((mean - observed) ** 2)


rng = np.random.default_rng(0)
half = rng.normal(size=(4, 4)).astype(np.float32)
precision = half @ half.T + np.eye(4, dtype=np.float32)
information, observed = np.ones(4, np.float32), np.zeros(4, np.float32)
models = [precision, 2 * precision, jnp.asarray(precision, jnp.bfloat16)]
for number, precision in enumerate(models):
    mean, error = posterior_mean(precision, information, observed)  # <- cause
    print(number, np.asarray(mean), float(error))
