# cause: constant
# subject: restart
# old: 3
# new: 6
# advice: one of few
# program: jit_step
# reason: systems that did not converge are solved again with a longer restart, which is a size in GMRES

import functools

import jax
import jax.numpy as jnp
import lineax as lx
import numpy as np


def residual(state, forcing):
    laplace = jnp.roll(state, 1) - 2 * state + jnp.roll(state, -1)
    return state - 0.1 * laplace + 0.05 * state ** 3 - forcing


def newton_direction(state, forcing, restart):
    operator = lx.JacobianLinearOperator(lambda at, _: residual(at, forcing), state)
    solver = lx.GMRES(rtol=1e-4, atol=1e-4, restart=restart, max_steps=20)
    return lx.linear_solve(operator, -residual(state, forcing), solver, throw=False)  # <- cause


@functools.partial(jax.jit, static_argnames="restart")
def step(state, forcing, restart):
    solution = newton_direction(state, forcing, restart)
    state = state + solution.value
    return state, jnp.max(jnp.abs(residual(state, forcing)))


def solve(forcing, restart):
    state = np.zeros(10, np.float32)
    for _ in range(3):
        state, error = step(state, forcing, restart=restart)  # <- call
    return state, float(error)


def solve_all(systems, tolerance=1e-9):
    hard = []
    for forcing in systems:
        _, error = solve(forcing, restart=3)
        if error > tolerance:
            hard.append(forcing)
    for forcing in hard:
        _, error = solve(forcing, restart=6)
        print("again", error)


rng = np.random.default_rng(0)
solve_all([rng.normal(size=10).astype(np.float32) for _ in range(3)])
