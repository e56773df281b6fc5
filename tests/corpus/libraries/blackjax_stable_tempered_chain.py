# cause: stable
# reason: temperature and step size are arrays of the state that the chain carries

from typing import NamedTuple

import blackjax
import jax
import jax.numpy as jnp
import numpy as np

kernel = blackjax.mala.build_kernel()


class Tempered(NamedTuple):
    inner: blackjax.mcmc.mala.MALAState
    inverse_temperature: jax.Array
    step_size: jax.Array


def logdensity(x):
    return jnp.logaddexp(-jnp.sum((x - 2) ** 2), -jnp.sum((x + 2) ** 2))


@jax.jit
def advance(key, chain):
    tempered = lambda x: chain.inverse_temperature * logdensity(x)
    inner = blackjax.mala.init(chain.inner.position, tempered)
    inner, info = kernel(key, inner, tempered, chain.step_size)
    step_size = chain.step_size * jnp.exp(0.1 * (info.acceptance_rate - 0.5))
    return Tempered(inner, jnp.minimum(1.0, chain.inverse_temperature * 1.25), step_size), info.is_accepted


@jax.jit
def begin(position):
    return Tempered(blackjax.mala.init(position, logdensity), jnp.float32(0.1), jnp.float32(0.05))


chain = begin(np.ones(2, np.float32))
accepted = 0
for number in range(4):
    chain, taken = advance(jax.random.fold_in(jax.random.key(0), number), chain)
    accepted += bool(taken)
print(accepted, np.asarray(chain.inner.position))
