# cause: shape
# reason: one more school takes part in the second analysis: its effect and its data are longer

import blackjax
import jax
import jax.numpy as jnp
import numpy as np

STEP_SIZE = 0.05


def log_posterior(position, effects, deviations):
    spread = jnp.exp(position["log_spread"])
    prior = -0.5 * jnp.sum(((position["effect"] - position["mean"]) / spread) ** 2)
    prior -= position["effect"].shape[0] * position["log_spread"] + 0.5 * position["mean"] ** 2 / 25.0
    likelihood = -0.5 * jnp.sum(((effects - position["effect"]) / deviations) ** 2)
    return prior + likelihood - position["log_spread"] ** 2


@jax.jit
def one_step(key, state, effects, deviations):
    kernel = blackjax.mala(lambda position: log_posterior(position, effects, deviations), STEP_SIZE)
    state, info = kernel.step(key, state)
    return state, info.acceptance_rate


def analyse(effects, deviations, draws=3):
    position = {"mean": jnp.zeros(()), "log_spread": jnp.zeros(()), "effect": jnp.zeros(len(effects))}
    state = blackjax.mala.init(position, lambda position: log_posterior(position, effects, deviations))
    means = []
    for key in jax.random.split(jax.random.key(0), draws):
        state, _ = one_step(key, state, effects, deviations)  # <- cause
        means.append(float(state.position["mean"]))
    return np.mean(means)


effects = np.array([28.0, 8.0, -3.0, 7.0, -1.0], np.float32)
deviations = np.array([15.0, 10.0, 16.0, 11.0, 9.0], np.float32)
print(analyse(effects[:4], deviations[:4]))
print(analyse(effects, deviations))  # <- call
