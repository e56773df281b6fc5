# cause: donation
# subject: params
# advice: donate

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np


def loss(params, x):
    return jnp.mean((x @ params) ** 2)


solver = jaxopt.PolyakSGD(fun=loss, max_stepsize=0.1)


def make_step(**options):
    def step(params, x):
        state = solver.init_state(params, x)
        return solver.update(params, state, x).params
    return jax.jit(step, **options)


x = np.ones((4, 3), np.float32)
for options in ({}, {"donate_argnums": 0}):
    make_step(**options)(jnp.zeros(3), x)  # <- cause
