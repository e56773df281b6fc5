# cause: structure
# reason: evaluation takes the most likely action; the key is then read by nothing

import functools

import distrax
import jax
import numpy as np


@functools.partial(jax.jit, static_argnames="greedy")
def act(params, observation, key, greedy=False):
    policy = distrax.Categorical(logits=observation @ params)
    action = policy.mode() if greedy else policy.sample(seed=key)  # <- cause
    return action, policy.entropy()


params, observation = np.ones((4, 3), np.float32), np.ones((2, 4), np.float32)
for episode in range(2):
    act(params, observation, jax.random.key(episode))
act(params, observation, jax.random.key(9), greedy=True)  # <- call
