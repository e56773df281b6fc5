# cause: shape
# subject: states.position
# old: f32[4,3]
# new: f32[6,3]
# program: jit_step_chains

import blackjax
import jax
import jax.numpy as jnp


def logdensity(x):
    return -0.25 * jnp.sum(x ** 4)


sampler = blackjax.mala(logdensity, 0.05)


@jax.jit
def step_chains(states, key):
    keys = jax.random.split(key, states.logdensity.shape[0])
    return jax.vmap(sampler.step)(keys, states)


for chains in (4, 6):
    states = jax.vmap(sampler.init)(jnp.zeros((chains, 3)))
    for t in range(2):
        states, _ = step_chains(states, jax.random.fold_in(jax.random.key(0), t))  # <- cause
