# cause: constant
# subject: inverse_temperature
# pattern: counter
# program: jit_run_stage
# advice: array
# reason: each stage has a density of its own, with the temperature of the stage in it

import blackjax
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(1)
FEATURES = rng.normal(size=(12, 3)).astype(np.float32)
TARGETS = (FEATURES @ np.array([0.5, -1.0, 2.0], np.float32)).astype(np.float32)


def log_prior(position):
    return -0.5 * jnp.sum(position["coefficients"] ** 2)


def log_likelihood(position, features, targets):
    error = features @ position["coefficients"] - targets
    return -0.5 * jnp.sum(error ** 2)


def stage_of(inverse_temperature):
    def density(position, features, targets):
        likelihood = log_likelihood(position, features, targets)
        return log_prior(position) + inverse_temperature * likelihood  # <- cause

    @jax.jit
    def run_stage(key, position, features, targets):
        sampler = blackjax.hmc(lambda at: density(at, features, targets), step_size=0.05,
                               inverse_mass_matrix=np.ones(3, np.float32),
                               num_integration_steps=4)

        def one(state, key):
            state, info = sampler.step(key, state)
            return state, info.acceptance_rate

        state, rates = jax.lax.scan(one, sampler.init(position), jax.random.split(key, 8))
        return state.position, rates.mean()

    return run_stage


def anneal(schedule):
    position = {"coefficients": np.zeros(3, np.float32)}
    for number, inverse_temperature in enumerate(schedule):
        run_stage = stage_of(inverse_temperature)
        key = jax.random.key(number)
        position, rate = run_stage(key, position, FEATURES, TARGETS)  # <- call
        print(inverse_temperature, float(rate))
    return position


anneal([0.1, 0.25, 0.4, 0.7])
