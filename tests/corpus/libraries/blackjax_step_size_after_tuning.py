# cause: constant
# reason: the tuned step size is a Python float that the new kernel closes over

import blackjax
import jax
import jax.numpy as jnp
import numpy as np

observed = np.random.default_rng(0).normal(2.0, 1.0, 30).astype(np.float32)


def logdensity(position):
    mean, log_scale = position["mean"], position["log_scale"]
    z = (observed - mean) * jnp.exp(-log_scale)
    return -0.5 * jnp.sum(z ** 2) - 30 * log_scale - 0.5 * mean ** 2


def make_step(step_size):
    kernel = blackjax.mala(logdensity, step_size)

    @jax.jit
    def one_step(key, state):
        state, info = kernel.step(key, state)  # <- cause
        return state, info.acceptance_rate

    return one_step


def sample(step, state, seed, count):
    rates = []
    for key in jax.random.split(jax.random.key(seed), count):
        state, rate = step(key, state)  # <- call
        rates.append(float(rate))
    return state, float(np.mean(rates))


start = blackjax.mala(logdensity, 0.1)
state = jax.jit(start.init)({"mean": np.float32(0.0), "log_scale": np.float32(0.0)})
step_size = 0.02
state, rate = sample(make_step(step_size), state, 1, 6)
step_size = step_size * (1.5 if rate > 0.57 else 0.7)
state, rate = sample(make_step(step_size), state, 2, 6)
print(step_size, rate)
