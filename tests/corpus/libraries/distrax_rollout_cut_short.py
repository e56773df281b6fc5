# cause: shape
# subject: actions
# old: i32[8,3]
# new: i32[5,3]
# advice: pad
# reason: the last trajectories of the day end early, so all that was recorded of them is shorter

import distrax
import jax
import jax.numpy as jnp
import numpy as np


def advantages_of(rewards, values, discount=0.9, decay=0.95):
    following = jnp.concatenate([values[1:], jnp.zeros_like(values[:1])])
    deltas = rewards + discount * following - values

    def back(carry, delta):
        carry = delta + discount * decay * carry
        return carry, carry

    return jax.lax.scan(back, jnp.zeros_like(deltas[0]), deltas, reverse=True)[1]


@jax.jit
def update(params, actions, observations, rewards):
    def loss_fn(params):
        policy = distrax.Categorical(logits=observations @ params["policy"])
        values = observations @ params["value"]
        advantages = advantages_of(rewards, values)
        weights = jax.lax.stop_gradient((advantages - advantages.mean()) / (advantages.std() + 1e-6))
        return jnp.mean(advantages ** 2 - weights * policy.log_prob(actions) - 0.01 * policy.entropy())

    loss, grads = jax.value_and_grad(loss_fn)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), loss


params = {"policy": np.ones((4, 5), np.float32), "value": np.ones(4, np.float32)}
for steps in (8, 8, 5):
    actions = np.zeros((steps, 3), np.int32)
    observations, rewards = np.ones((steps, 3, 4), np.float32), np.ones((steps, 3), np.float32)
    params, loss = update(params, actions, observations, rewards)  # <- cause
