# cause: shape
# subject: inverse_mass_matrix
# old: f32[3]
# new: f32[3,3]
# reason: after a first look at the correlations the metric is a whole matrix; the products follow from that

import blackjax
import jax
import jax.numpy as jnp
import numpy as np


def logdensity(x):
    return -0.5 * jnp.sum((x - jnp.roll(x, 1)) ** 2) - 0.5 * jnp.sum(x ** 2)


kernel = blackjax.hmc.build_kernel()


@jax.jit
def sample(key, state, inverse_mass_matrix):
    state, info = kernel(key, state, logdensity, 0.125, inverse_mass_matrix, 3)
    return state, info.acceptance_rate


state = jax.jit(lambda x: blackjax.hmc.init(x, logdensity))(np.zeros(3, np.float32))
for number, metric in enumerate((np.ones(3), np.full(3, 0.5), np.eye(3) + 0.1)):
    state, rate = sample(np.array([1, number], np.uint32), state, metric.astype(np.float32))  # <- cause
