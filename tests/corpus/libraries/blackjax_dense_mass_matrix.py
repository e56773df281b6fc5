# cause: shape
# subject: inverse_mass_matrix
# old: f32[2]
# new: f32[2,2]
# reason: first the variances were the metric, then the whole covariance

import blackjax
import jax
import jax.numpy as jnp
import numpy as np

kernel = blackjax.hmc.build_kernel()


def logdensity(position):
    return -0.5 * jnp.sum((position - 1.0) ** 2)


@jax.jit
def step(key, state, step_size, inverse_mass_matrix):
    state, info = kernel(key, state, logdensity, step_size, inverse_mass_matrix, 4)
    return state, info.acceptance_rate


state = blackjax.hmc.init(np.zeros(2, np.float32), logdensity)
covariance = np.array([[1.0, 0.2], [0.2, 1.0]], np.float32)
for metric in (np.diag(covariance).copy(), covariance):
    for seed in range(2):
        state, rate = step(jax.random.key(seed), state, np.float32(0.1), metric)  # <- cause
