# cause: constant
# old: 0.1
# new: 0.5
# reason: the walk was accepted too often; the sampler closes over the width of its proposals

import blackjax
import jax
import jax.numpy as jnp
import numpy as np


def logdensity(position):
    return -0.5 * jnp.sum(position ** 2) - jnp.sin(position[0])


def acceptance(width):
    sampler = blackjax.additive_step_random_walk(
        logdensity, blackjax.mcmc.random_walk.normal(width))

    @jax.jit
    def step(key, state):
        return sampler.step(key, state)  # <- cause

    state = sampler.init(jnp.zeros(2))
    for number in range(2):
        state, info = step(jax.random.key(number), state)  # <- call
    return float(info.acceptance_rate)


for width in (np.full(2, 0.1, np.float32), np.full(2, 0.5, np.float32)):
    print(acceptance(width))
