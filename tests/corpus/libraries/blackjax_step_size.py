# cause: constant
# old: 0.5
# new: 0.25
# advice: array

import blackjax
import jax
import jax.numpy as jnp


def logdensity(position):
    return jax.scipy.stats.norm.logpdf(position["mu"], 1.0, 2.0).sum()


def run(step_size):
    mala = blackjax.mala(logdensity, step_size)
    state = mala.init({"mu": jnp.zeros(3)})
    step = jax.jit(mala.step)
    for key in jax.random.split(jax.random.key(5), 2):
        state, info = step(key, state)  # <- cause
    return state


run(0.5)
run(0.25)
