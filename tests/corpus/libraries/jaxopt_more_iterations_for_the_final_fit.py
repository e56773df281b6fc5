# cause: constant
# advice: few values
# reason: the limit of iterations is a Python number of the solver, in the library's code

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np


def model(params, t):
    return params["height"] * jnp.exp(-params["rate"] * t) + params["floor"]


def residual(params, t, y):
    return jnp.sum((model(params, t) - y) ** 2)


def make_fit(iterations):
    solver = jaxopt.GradientDescent(residual, stepsize=1e-3, maxiter=iterations, acceleration=False)

    @jax.jit
    def fit(params, t, y):
        result = solver.run(params, t, y)  # <- cause
        return result.params, result.state.error

    return fit


def start():
    return {name: np.float32(1.0) for name in ("height", "rate", "floor")}


rng = np.random.default_rng(1)
t = np.linspace(0, 3, 25).astype(np.float32)
y = (2 * np.exp(-1.5 * t) + 0.3 + 0.02 * rng.normal(size=25)).astype(np.float32)
draft, error = make_fit(20)(start(), t, y)
print("draft", float(error))
final, error = make_fit(200)(draft, t, y)  # <- call
print("final", float(error), {name: float(value) for name, value in final.items()})
