# cause: structure
# reason: the prior of the weights is chosen by name

import blackjax
import jax
import jax.numpy as jnp
import numpy as np

x = np.linspace(-1, 1, 6, dtype=np.float32)


def sampler_of(prior):
    def logdensity(weights):
        size = jnp.abs(weights) if prior == "laplace" else 0.5 * weights ** 2  # <- cause
        residual = jnp.sin(x) - weights[0] - weights[1] * x
        return -jnp.sum(size) - 2.0 * jnp.sum(residual ** 2)

    mala = blackjax.mala(logdensity, 0.05)

    @jax.jit
    def one_step(key, state):
        state, info = mala.step(key, state)
        return state, info.acceptance_rate

    return mala.init, one_step


for prior in ("normal", "laplace"):
    init, one_step = sampler_of(prior)
    state = init(jnp.zeros(2, jnp.float32))
    for number in range(2):
        state, rate = one_step(jax.random.key(number), state)  # <- call
