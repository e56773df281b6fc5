# cause: shape
# pattern: unpadded
# program: jit_update
# reason: an episode ends when the pole falls, and the policy learns from it as it is

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax

policy = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([8, 2])(x)))
optimizer = optax.adam(1e-2)


@jax.jit
def act(params, observation, key):
    return jax.random.categorical(key, policy.apply(params, observation))


@jax.jit
def update(params, opt_state, episode):
    def loss_fn(params):
        log_policy = jax.nn.log_softmax(policy.apply(params, episode["observations"]))
        chosen = jnp.take_along_axis(log_policy, episode["actions"][:, None], axis=1)[:, 0]
        return -jnp.sum(chosen * episode["returns"])

    grads = jax.grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state


class Pole:
    LENGTHS = (5, 9, 6, 8, 7)

    def __init__(self, number):
        self.left = self.LENGTHS[number]
        self.random = np.random.default_rng(number)

    def observe(self):
        return self.random.normal(size=4).astype(np.float32)

    def step(self, action):
        self.left -= 1
        return 1.0, self.left == 0


def play(params, number):
    pole, done, steps = Pole(number), False, []
    while not done:
        observation = pole.observe()
        action = int(act(params, observation, keys[len(steps)]))
        reward, done = pole.step(action)
        steps.append((observation, action, reward))
    observations, actions, rewards = zip(*steps)
    returns = np.cumsum(np.array(rewards, np.float32)[::-1])[::-1]
    return {"observations": np.stack(observations), "actions": np.array(actions, np.int32),
            "returns": returns.astype(np.float32)}


keys = np.asarray(jax.random.split(jax.random.PRNGKey(0), 10))
params = jax.jit(policy.init)(jax.random.PRNGKey(1), np.ones(4, np.float32))
opt_state = jax.jit(optimizer.init)(params)
for number in range(5):
    episode = play(params, number)
    params, opt_state = update(params, opt_state, episode)  # <- cause
    print(number, len(episode["actions"]))
