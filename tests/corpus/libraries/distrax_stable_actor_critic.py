# cause: stable
# reason: acting and learning are two functions; the entropy's weight falls as an array

import distrax
import jax
import jax.numpy as jnp
import numpy as np


def heads(params, observation):
    hidden = jnp.tanh(observation @ params["body"])
    return distrax.Categorical(logits=hidden @ params["policy"]), (hidden @ params["value"])[..., 0]


@jax.jit
def act(params, observation, key):
    policy, value = heads(params, observation)
    action, log_prob = policy.sample_and_log_prob(seed=key)
    return action, log_prob, value


@jax.jit
def learn(params, batch, entropy_weight):
    def loss_fn(params):
        policy, value = heads(params, batch["observation"])
        ratio = jnp.exp(policy.log_prob(batch["action"]) - batch["log_prob"])
        advantage = batch["return"] - jax.lax.stop_gradient(value)
        clipped = jnp.clip(ratio, 0.8, 1.2)
        gain = jnp.minimum(ratio * advantage, clipped * advantage).mean()
        error = jnp.mean((batch["return"] - value) ** 2)
        return error - gain - entropy_weight * policy.entropy().mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads), loss


params = {"body": np.ones((4, 6), np.float32), "policy": np.ones((6, 3), np.float32),
          "value": np.ones((6, 1), np.float32)}
key = jax.random.key(0)
for iteration in range(2):
    steps = []
    for at in range(4):
        key, draw = jax.random.split(key)
        observation = np.full((2, 4), at, np.float32)
        action, log_prob, value = act(params, observation, draw)
        steps.append({"observation": observation, "action": action, "log_prob": log_prob,
                      "return": np.ones(2, np.float32)})
    batch = jax.tree.map(lambda *rows: np.concatenate([np.asarray(row) for row in rows]), *steps)
    for rows in np.split(np.arange(8), 2):
        minibatch = {name: value[rows] for name, value in batch.items()}
        params, loss = learn(params, minibatch, np.float32(0.01 / (1 + iteration)))
    print(iteration, float(loss))
