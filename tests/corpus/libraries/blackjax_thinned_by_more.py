# cause: structure
# old: 2
# new: 4
# reason: the chain is thinned by a Python loop in the jitted function, which is unrolled

import functools

import blackjax
import jax
import jax.numpy as jnp


def logdensity(position):
    return -0.5 * jnp.sum(position ** 2)


sampler = blackjax.hmc(logdensity, 0.2, jnp.ones(2), 3)


@functools.partial(jax.jit, static_argnames="thin")
def sample(keys, state, thin):
    for index in range(thin):
        state, _ = sampler.step(keys[index], state)  # <- cause
    return state


state = sampler.init(jnp.zeros(2))
keys = jax.random.split(jax.random.key(0), 4)
for thin in (2, 4):
    state = sample(keys, state, thin=thin)  # <- call
