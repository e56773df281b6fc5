# cause: shape
# subject: inverse_mass_matrix
# old: f32[2]
# new: f32[2,2]
# reason: a vector is a diagonal metric, a matrix a dense one; its products follow from the shape

import blackjax
import jax
import jax.numpy as jnp
import numpy as np


def logdensity(position):
    return -0.5 * jnp.sum((position - 1.0) ** 2) - jnp.cos(position[0])


kernel = blackjax.hmc.build_kernel()


@jax.jit
def step(key, state, inverse_mass_matrix):
    state, info = kernel(key, state, logdensity, 0.1, inverse_mass_matrix, 3)
    return state, info.acceptance_rate


state = blackjax.hmc.init(jnp.zeros(2), logdensity)
for metric in (np.ones(2, np.float32), np.eye(2, dtype=np.float32)):
    state, rate = step(jax.random.key(0), state, metric)  # <- cause
