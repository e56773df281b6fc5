# cause: shape
# subject: inverse_mass
# old: f32[3]
# new: f32[3,3]

import blackjax
import jax
import jax.numpy as jnp
import numpy as np

COVARIANCE = np.array([[1.0, 0.6, 0.0], [0.6, 1.0, 0.2], [0.0, 0.2, 0.5]], np.float32)
PRECISION = np.linalg.inv(COVARIANCE)


def logdensity(position):
    return -0.5 * position @ PRECISION @ position


kernel = blackjax.hmc.build_kernel()


@jax.jit
def transition(key, state, step_size, inverse_mass):
    state, info = kernel(key, state, logdensity, step_size, inverse_mass, 5)
    return state, info.acceptance_rate


def sample(key, state, inverse_mass, count):
    draws = []
    for key in jax.random.split(key, count):
        state, rate = transition(key, state, np.float32(0.3), inverse_mass)  # <- cause
        draws.append(np.asarray(state.position))
    return state, np.stack(draws)


pilot_key, main_key = jax.random.split(jax.random.key(0))
state = blackjax.hmc.init(jnp.zeros(3), logdensity)
state, draws = sample(pilot_key, state, np.ones(3, np.float32), 20)
inverse_mass = np.cov(draws.T).astype(np.float32) + 1e-3 * np.eye(3, dtype=np.float32)
state, draws = sample(main_key, state, inverse_mass, 20)
print(draws.mean(0))
