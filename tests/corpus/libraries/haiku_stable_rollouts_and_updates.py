# cause: stable
# reason: actions are sampled one by one, and the update gets buffers of full length with a mask

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np

LENGTH = 6


def policy(observation):
    return hk.nets.MLP([8, 2])(observation)


logits = hk.without_apply_rng(hk.transform(policy))


@jax.jit
def act(params, key, observation):
    return jax.random.categorical(key, logits.apply(params, observation))


@jax.jit
def update(params, observations, actions, returns, mask, rate):
    def loss_fn(params):
        chosen = jax.nn.log_softmax(logits.apply(params, observations))
        chosen = jnp.take_along_axis(chosen, actions[:, None], axis=1)[:, 0]
        return -jnp.sum(chosen * returns * mask) / jnp.sum(mask)

    grads = jax.grad(loss_fn)(params)
    return jax.tree.map(lambda p, g: p - rate * g, params, grads)


class Buffer:
    def __init__(self):
        self.observations = np.zeros((LENGTH, 3), np.float32)
        self.actions = np.zeros(LENGTH, np.int32)
        self.returns = np.zeros(LENGTH, np.float32)
        self.mask = np.zeros(LENGTH, np.float32)

    def add(self, at, observation, action, reward):
        self.observations[at], self.actions[at] = observation, action
        self.returns[:at + 1] += reward
        self.mask[at] = 1


rng = np.random.default_rng(0)
params = jax.jit(logits.init)(jax.random.key(0), np.zeros(3, np.float32))
for episode in range(3):
    buffer = Buffer()
    for at in range(3 + episode):
        observation = rng.normal(size=3).astype(np.float32)
        key = jax.random.key(10 * episode + at)
        action = int(act(params, key, observation))
        buffer.add(at, observation, action, float(observation[0] * (2 * action - 1)))
    rate = np.float32(0.1 / (1 + episode))
    params = update(params, buffer.observations, buffer.actions, buffer.returns, buffer.mask, rate)
