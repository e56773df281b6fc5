# cause: shape
# subject: step_size
# old: f32[]
# new: f32[2]
# reason: one step size for all, then one for each dimension; the products follow from the shape

import blackjax
import jax
import jax.numpy as jnp
import numpy as np


def logdensity(position):
    return -0.5 * jnp.sum((position - 1.0) ** 2) - jnp.cos(position[0])


kernel = blackjax.hmc.build_kernel()


@jax.jit
def step(key, state, step_size):
    state, info = kernel(key, state, logdensity, step_size, jnp.ones(2), 3)
    return state, info.acceptance_rate


state = blackjax.hmc.init(jnp.zeros(2), logdensity)
for step_size in (np.float32(0.1), np.array([0.1, 0.2], np.float32)):
    state, rate = step(jax.random.key(0), state, step_size)  # <- cause
