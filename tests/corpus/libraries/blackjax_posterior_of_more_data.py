# cause: shape
# subject: data...
# old: f32[8,3]
# new: f32[12,3]
# program: jit_one_step
# reason: after each day the posterior is sampled again, with the day's rows added

import blackjax
import jax
import jax.numpy as jnp
import numpy as np


def log_density(position, data):
    return -0.5 * jnp.sum(position**2) - 0.5 * jnp.sum((data @ position) ** 2)


@jax.jit
def one_step(key, state, data):
    kernel = blackjax.mala(lambda position: log_density(position, data), step_size=0.01)
    state, info = kernel.step(key, state)
    return state, info.acceptance_rate


days = [np.ones((4, 3), np.float32) for _ in range(3)]
start = np.zeros(3, np.float32)
for day in range(1, 4):
    data = np.concatenate(days[:day])
    state = jax.jit(lambda p, d: blackjax.mala.init(p, lambda q: log_density(q, d)))(start, data)
    for number in range(2):
        state, rate = one_step(jax.random.key(number), state, data)  # <- cause
