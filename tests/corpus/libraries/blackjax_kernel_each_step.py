# cause: retrace
# advice: once | partial in the loop | __eq__

import blackjax
import jax
import jax.numpy as jnp


def logdensity(x):
    return -0.5 * jnp.sum(x ** 2)


def sample(key, position, count):
    nuts = blackjax.nuts(logdensity, step_size=0.5, inverse_mass_matrix=jnp.ones(2))
    state = nuts.init(position)
    for step_key in jax.random.split(key, count):
        nuts = blackjax.nuts(logdensity, step_size=0.5, inverse_mass_matrix=jnp.ones(2))
        state, info = jax.jit(nuts.step)(step_key, state)  # <- cause
    return state


sample(jax.random.key(0), jnp.zeros(2), 3)
