# cause: stable
# reason: acting and learning of an agent

import distrax
import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.sgd(0.1)


def policy(params, observation):
    return distrax.Categorical(logits=observation @ params["w"] + params["b"])


@jax.jit
def act(params, key, observation):
    action, log_prob = policy(params, observation).sample_and_log_prob(seed=key)
    return action, log_prob


@jax.jit
def learn(params, state, observations, actions, returns):
    def loss(params):
        pi = policy(params, observations)
        return -jnp.mean(pi.log_prob(actions) * returns) - 0.01 * pi.entropy().mean()
    updates, state = optimizer.update(jax.grad(loss)(params), state)
    return optax.apply_updates(params, updates), state


rng = np.random.default_rng(0)
params = {"w": jnp.zeros((3, 2)), "b": jnp.zeros(2)}
state = optimizer.init(params)
key = jax.random.key(0)
for episode in range(3):
    observations, actions = [], []
    for _ in range(4):
        key, act_key = jax.random.split(key)
        observation = rng.normal(size=3).astype(np.float32)
        action, _ = act(params, act_key, observation)
        observations.append(observation)
        actions.append(int(action))
    params, state = learn(params, state, np.stack(observations), np.array(actions, np.int32),
                          np.ones(4, np.float32))
