# cause: constant
# old: 6
# new: 10

from functools import partial

import blackjax
import jax
import jax.numpy as jnp


def logdensity(x):
    return -jnp.abs(x).sum()


rmh = blackjax.additive_step_random_walk(logdensity, blackjax.mcmc.random_walk.normal(jnp.eye(2)))


@partial(jax.jit, static_argnums=2)
def inference_loop(rng_key, initial_state, num_samples):
    def one_step(state, key):
        state, _ = rmh.step(key, state)
        return state, state

    keys = jax.random.split(rng_key, num_samples)  # <- cause
    _, states = jax.lax.scan(one_step, initial_state, keys)
    return states


start = rmh.init(jnp.ones(2))
inference_loop(jax.random.key(0), start, 6)
inference_loop(jax.random.key(0), start, 10)  # <- call
