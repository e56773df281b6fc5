# cause: constant
# old: 0.001
# new: 1e-05
# run: EQX_ON_ERROR=nan
# reason: the fit is repeated with a smaller tolerance, a Python number that the solver holds

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optimistix as optx


def residuals(params, data):
    t, measured = data
    return params["height"] * jnp.exp(-params["rate"] * t) + params["offset"] - measured


@eqx.filter_jit
def fit(start, t, measured, rtol):
    solver = optx.GaussNewton(rtol=rtol, atol=1e-6)
    solution = optx.least_squares(  # <- cause
        residuals, solver, start, args=(t, measured), max_steps=16, throw=False)
    return solution.value


t = np.linspace(0.0, 3.0, 12, dtype=np.float32)
noise = 0.01 * np.random.default_rng(0).normal(size=12).astype(np.float32)
measured = (2.0 * np.exp(-1.3 * t) + 0.5 + noise).astype(np.float32)
params = jax.tree.map(jnp.float32, {"height": 1.0, "rate": 1.0, "offset": 0.0})
for rtol in (1e-3, 1e-5):
    params = fit(params, t, measured, rtol)  # <- call
    print(rtol, {name: float(value) for name, value in params.items()})
