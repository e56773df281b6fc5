# cause: constant
# reason: epsilon is a Python number: one minus it and its share of an action are baked in

import functools

import distrax
import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames="epsilon")
def act(params, observation, key, epsilon):
    values = jnp.tanh(observation @ params["first"]) @ params["last"]
    policy = distrax.EpsilonGreedy(values, epsilon)  # <- cause
    return policy.sample(seed=key)


params = {"first": np.ones((5, 8), np.float32), "last": np.ones((8, 4), np.float32)}
observation = np.ones((2, 5), np.float32)
for episode, epsilon in enumerate((0.5, 0.5, 0.25)):
    act(params, observation, jax.random.key(episode), epsilon=epsilon)  # <- call
