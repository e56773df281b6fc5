# cause: constant
# program: jit_one_step
# reason: the metric that the warm-up found is closed over by the kernel; another data set has another

import blackjax
import jax
import jax.numpy as jnp
import numpy as np


def logdensity(position):
    return -0.5 * jnp.sum((position - 1.0) ** 2)


def draw(inverse_mass_matrix):
    hmc = blackjax.hmc(logdensity, 0.1, inverse_mass_matrix, 3)

    @jax.jit
    def one_step(state, key):
        state, _ = hmc.step(key, state)  # <- cause
        return state, state.position

    state = hmc.init(jnp.zeros(2))
    for seed in range(2):
        state, position = one_step(state, jax.random.key(seed))  # <- call


for variances in ([1.0, 1.0], [0.5, 2.0]):
    draw(np.array(variances, np.float32))
