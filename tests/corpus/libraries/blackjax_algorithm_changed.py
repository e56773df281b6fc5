# cause: structure

import blackjax
import jax
import jax.numpy as jnp


def logdensity(x):
    return -0.5 * jnp.sum(x ** 2)


def make_run(algorithm):
    def run(key, position):
        state = algorithm.init(position)
        state, info = algorithm.step(key, state)  # <- cause
        return state.position
    return jax.jit(run)


key, position = jax.random.key(0), jnp.zeros(2)
make_run(blackjax.mala(logdensity, 0.1))(key, position)
make_run(blackjax.hmc(logdensity, 0.1, jnp.ones(2), 3))(key, position)  # <- call
