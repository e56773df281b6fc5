# cause: donation
# subject: states.position
# old: kept
# new: donated
# reason: the long run donates its states, the check before it did not, as it compares them

import blackjax
import jax
import jax.numpy as jnp
import numpy as np


def logdensity(x):
    return -jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


mala = blackjax.mala(logdensity, 1e-3)


def advance(states, keys):
    states, info = jax.vmap(mala.step)(keys, states)
    return states, info.acceptance_rate.mean()


starts = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
states = jax.jit(jax.vmap(mala.init))(starts)
keys = np.arange(40, dtype=np.uint32).reshape(5, 4, 2)

moved, rate = jax.jit(advance)(states, keys[0])
print(float(jnp.abs(moved.position - states.position).max()), float(rate))

run = jax.jit(advance, donate_argnames="states")
for number in range(1, 5):
    states, rate = run(states, keys[number])  # <- cause
