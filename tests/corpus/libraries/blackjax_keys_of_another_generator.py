# cause: option
# subject: key
# old: threefry2x32
# new: rbg
# reason: a key of another generator is of another type, and draws by other operations; the setting is the generator

import blackjax
import jax
import jax.numpy as jnp


def logdensity(position):
    return -0.25 * jnp.sum(position ** 4)


mala = blackjax.mala(logdensity, 0.1)


@jax.jit
def one_step(state, key):
    state, info = mala.step(key, state)
    return state, info.acceptance_rate


state = mala.init(jnp.ones(3))
for implementation in ("threefry2x32", "rbg"):
    state, _ = one_step(state, jax.random.key(1, impl=implementation))  # <- cause
