# cause: constant
# subject: divergence_threshold
# old: 1000
# new: 50
# reason: a stricter threshold from which on a trajectory counts as divergent

import blackjax
import jax
import jax.numpy as jnp
import numpy as np

ROWS = np.linspace(-1.0, 1.0, 12, dtype=np.float32).reshape(6, 2)


def logdensity(params):
    scale = jnp.exp(params["log_scale"])
    likelihood = -0.5 * jnp.sum(((ROWS - params["mean"]) / scale) ** 2) - ROWS.size * params["log_scale"]
    return likelihood - 0.5 * jnp.sum(params["mean"] ** 2) - 0.5 * params["log_scale"] ** 2


def run(divergence_threshold, params, key):
    sampler = blackjax.hmc(logdensity, 0.1, jnp.ones(3), 4, divergence_threshold=divergence_threshold)

    @jax.jit
    def one_step(state, key):
        state, info = sampler.step(key, state)  # <- cause
        return state, (info.acceptance_rate, info.is_divergent)

    state = sampler.init(params)
    divergent = 0
    for number in range(3):
        state, (rate, bad) = one_step(state, jax.random.fold_in(key, number))  # <- call
        divergent += int(bad)
    return state, divergent


params = {"mean": jnp.zeros(2), "log_scale": jnp.zeros(())}
for divergence_threshold in (1000, 50):
    run(divergence_threshold, params, jax.random.key(1))
