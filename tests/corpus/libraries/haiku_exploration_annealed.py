# cause: constant
# subject: epsilon
# old: 0.2
# new: 0.1
# pattern: counter
# advice: array | argument
# reason: how often the agent explores is a Python number that falls with each episode

import functools

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np


def q_values(observation):
    return hk.nets.MLP([6, 3])(observation)


net = hk.without_apply_rng(hk.transform(q_values))
params = jax.jit(net.init)(jax.random.PRNGKey(0), np.ones((1, 4), np.float32))


@functools.partial(jax.jit, static_argnums=3)
def act(params, key, observation, epsilon):
    pick, draw = jax.random.split(key)
    greedy = net.apply(params, observation).argmax(-1)
    explore = jax.random.uniform(pick, greedy.shape) < epsilon  # <- cause
    return jnp.where(explore, jax.random.randint(draw, greedy.shape, 0, 3), greedy)


epsilon = 0.8
for episode in range(4):
    observation = np.ones((2, 4), np.float32)
    act(params, np.array([0, episode], np.uint32), observation, epsilon)  # <- call
    epsilon /= 2
