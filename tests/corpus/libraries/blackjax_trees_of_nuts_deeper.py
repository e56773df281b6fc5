# cause: constant
# subject: kernel_args[2]
# old: 3
# new: 5
# reason: the trees may be doubled more often: a bound of a loop, and the size of what is kept for each doubling

import blackjax
import jax
import jax.numpy as jnp
import numpy as np


def logdensity(x):
    return -0.5 * jnp.sum(x ** 2 / jnp.array([1.0, 4.0]))


def run(doublings):
    nuts = blackjax.nuts(logdensity, 0.25, jnp.ones(2), max_num_doublings=doublings)

    @jax.jit
    def step(key, state):
        return nuts.step(key, state)[0]  # <- cause

    state = nuts.init(np.ones(2, np.float32))
    for number in range(2):
        state = step(np.array([0, number], np.uint32), state)  # <- call
    return state


for doublings in (3, 5):
    run(doublings)
