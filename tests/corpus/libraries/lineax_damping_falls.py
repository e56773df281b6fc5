# cause: constant
# old: 0.05
# new: 0.025
# pattern: counter
# advice: array
# run: EQX_ON_ERROR=nan
# reason: the damping of Levenberg and Marquardt is halved on the host after each step; filter_jit makes it static

import equinox as eqx
import jax
import jax.numpy as jnp
import lineax as lx
import numpy as np


def model(params, x):
    return params[0] * jnp.exp(-params[1] * x) + params[2]


@eqx.filter_jit
def step(params, x, y, damping):
    residual = lambda params: model(params, x) - y
    gradient = jax.grad(lambda params: 0.5 * jnp.sum(residual(params) ** 2))(params)

    def damped(vector):
        _, along = jax.jvp(residual, (params,), (vector,))
        _, back = jax.vjp(residual, params)
        return back(along)[0] + damping * vector  # <- cause

    operator = lx.FunctionLinearOperator(damped, jax.eval_shape(lambda: params),
                                         lx.positive_semidefinite_tag)
    solver = lx.CG(rtol=1e-3, atol=1e-3, max_steps=4)
    return params - lx.linear_solve(operator, gradient, solver, throw=False).value


x = np.linspace(0.0, 2.0, 7, dtype=np.float32)
y = 2.0 * np.exp(-1.5 * x) + 0.5
params, damping = jnp.ones(3), 0.2
for _ in range(4):
    params = step(params, x, y, damping)  # <- call
    damping *= 0.5
