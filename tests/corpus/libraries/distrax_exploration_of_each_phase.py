# cause: constant
# reason: each phase has a new actor, which closes over a Python number

import distrax
import jax
import jax.numpy as jnp
import numpy as np


def q_values(params, observation):
    hidden = jax.nn.relu(observation @ params["w1"] + params["b1"])
    return hidden @ params["w2"]


def make_actor(epsilon):
    @jax.jit
    def act(params, observation, key):
        policy = distrax.EpsilonGreedy(q_values(params, observation), epsilon)  # <- cause
        action = policy.sample(seed=key)
        return action, policy.entropy()

    return act


def play(actor, params, key, steps):
    observation = np.zeros((3, 5), np.float32)
    total = 0.0
    for key in jax.random.split(key, steps):
        action, entropy = actor(params, observation, key)  # <- call
        observation = np.roll(observation, 1, axis=1)
        observation[:, 0] = np.asarray(action)
        total += float(entropy.mean())
    return total / steps


rng = np.random.default_rng(0)
params = {"w1": rng.normal(size=(5, 16)).astype(np.float32), "b1": np.zeros(16, np.float32),
          "w2": rng.normal(size=(16, 6)).astype(np.float32)}
for phase, epsilon in enumerate((0.5, 0.05)):
    actor = make_actor(epsilon)
    print(f"epsilon {epsilon}: entropy {play(actor, params, jax.random.key(phase), 4):.3f}")
