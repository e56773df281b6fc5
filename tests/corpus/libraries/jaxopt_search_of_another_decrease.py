# cause: constant
# old: 0.9
# new: 0.5
# reason: by what a step that is too long is made shorter is a number of the solver

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np


def loss(w, x, y):
    return jnp.mean(jnp.logaddexp(0.0, -y * (x @ w)))


def make_step(factor):
    solver = jaxopt.ArmijoSGD(loss, decrease_factor=factor, maxls=5)

    @jax.jit
    def step(w, state, x, y):
        w, state = solver.update(w, state, x, y)  # <- cause
        return w, state

    return solver, step


x, y = np.ones((6, 2), np.float32), np.ones(6, np.float32)
w = jnp.zeros(2)
for factor in (0.9, 0.5):
    solver, step = make_step(factor)
    state = solver.init_state(w, x, y)
    for _ in range(2):
        w, state = step(w, state, x, y)  # <- call
