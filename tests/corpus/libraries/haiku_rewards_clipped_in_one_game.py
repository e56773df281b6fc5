# cause: structure
# reason: in one of the games rewards are clipped by a setting, in the other they are taken as they are

import functools

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np

GAMES = {"pong": {"clip_rewards": False}, "breakout": {"clip_rewards": True}}
critic = hk.without_apply_rng(hk.transform(lambda x: hk.Linear(1)(jnp.tanh(hk.Linear(5)(x)))[..., 0]))


@functools.partial(jax.jit, static_argnames=("clip_rewards",))
def td_error(params, observations, rewards, *, clip_rewards):
    values = critic.apply(params, observations)
    if clip_rewards:
        rewards = jnp.clip(rewards, -1.0, 1.0)  # <- cause
    return jnp.mean((rewards[:-1] + 0.95 * values[1:] - values[:-1]) ** 2)


observations, rewards = np.ones((6, 4), np.float32), np.linspace(-3, 3, 6, dtype=np.float32)
params = jax.jit(critic.init)(jax.random.key(0), observations)
for game, settings in GAMES.items():
    for episode in range(2):
        print(game, float(td_error(params, observations, rewards, **settings)))  # <- call
