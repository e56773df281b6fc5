# cause: shape
# subject: core.hidden
# old: f32[4,6]
# new: f32[8,6]
# reason: evaluation plays in more environments at once than training

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np


def forward(core, observation):
    x = jax.nn.relu(hk.Linear(6)(observation))
    x, core = hk.LSTM(6)(x, core)
    return hk.Linear(3)(x), hk.Linear(1)(x)[..., 0], core


net = hk.without_apply_rng(hk.transform(forward))


def start(environments):
    zeros = np.zeros((environments, 6), np.float32)
    return hk.LSTMState(zeros, zeros)


params = jax.jit(net.init)(jax.random.key(0), start(4), np.ones((4, 5), np.float32))


@jax.jit
def act(params, core, observation, key):
    logits, value, core = net.apply(params, core, observation)
    return jax.random.categorical(key, logits), value, core


def play(environments):
    core = start(environments)
    for step in range(2):
        observation = np.full((environments, 5), step, np.float32)
        action, value, core = act(params, core, observation, jax.random.key(step))  # <- cause


play(4)
play(8)
