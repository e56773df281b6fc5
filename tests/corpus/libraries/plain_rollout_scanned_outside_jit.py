# cause: retrace
# program: jit_scan
# reason: the rollout of each episode is a scan outside jit, with a body that is defined anew

import jax
import jax.numpy as jnp
import numpy as np

HORIZON = 12


def policy(params, observation):
    return jnp.tanh(observation @ params["w"])


def dynamics(state, action):
    position, speed = state
    speed = speed + 0.1 * action[0] - 0.05 * position
    return position + 0.1 * speed, speed


def rollout(params, start):
    def body(state, _):
        action = policy(params, jnp.stack(state))
        state = dynamics(state, action)
        return state, -(state[0] ** 2)

    state, rewards = jax.lax.scan(body, start, None, length=HORIZON)  # <- cause
    return np.asarray(rewards).sum()


def improve(params, best, rng):
    candidate = {"w": params["w"] + 0.1 * rng.normal(size=params["w"].shape).astype(np.float32)}
    start = (np.float32(rng.normal()), np.float32(0))
    reward = rollout(candidate, start)
    return (candidate, reward) if reward > best else (params, best)


def search(episodes):
    rng = np.random.default_rng(0)
    params, best = {"w": np.zeros((2, 1), np.float32)}, -np.inf
    for _ in range(episodes):
        params, best = improve(params, best, rng)
    return params, best


print(search(6)[1])
