# cause: stable
# reason: one factory jits the steps of two networks, which take turns: each is compiled once

import jax
import jax.numpy as jnp
import numpy as np
import optax


def trainer(optimizer, loss):
    @jax.jit
    def step(params, state, x):
        updates, state = optimizer.update(jax.grad(loss)(params, x), state)
        return optax.apply_updates(params, updates), state

    return step


def actor_loss(params, x):
    return jnp.exp(-jax.nn.softplus(x @ params)).mean()


def critic_loss(params, x):
    return jnp.abs(x @ params - 1).max()


x = np.ones((4, 6), np.float32)
actor, critic = np.full((6, 2), 0.5, np.float32), np.full((6, 3), 0.5, np.float32)
fast, slow = optax.sgd(0.1), optax.adam(0.01)
step_actor, step_critic = trainer(fast, actor_loss), trainer(slow, critic_loss)
actor_state, critic_state = fast.init(actor), slow.init(critic)
for _ in range(4):
    actor, actor_state = step_actor(actor, actor_state, x)
    critic, critic_state = step_critic(critic, critic_state, x)
