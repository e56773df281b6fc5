# cause: constant
# subject: steps
# old: 4
# new: 7
# reason: how far the model of the dynamics is rolled out is static: the length of the scan

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


@eqx.filter_jit
def rollout_error(model, start, goal, steps):
    def advance(state, _):
        state = state + 0.1 * model(state)
        return state, state

    _, states = jax.lax.scan(advance, start, None, length=steps)  # <- cause
    return jnp.mean((states - goal) ** 2)


model = eqx.nn.MLP(2, 2, 8, 1, key=jax.random.key(0))
start, goal = np.zeros(2, np.float32), np.ones(2, np.float32)
for steps in (4, 7):
    rollout_error(model, start, goal, steps)  # <- call
