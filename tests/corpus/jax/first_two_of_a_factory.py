# cause: first
# program: jit_update
# reason: one factory makes an update for each of two losses; both are compiled once

import jax
import jax.numpy as jnp
import numpy as np


def make_update(loss):
    @jax.jit
    def update(w, x):
        return w - 0.1 * jax.grad(loss)(w, x)
    return update


def squares(w, x):
    return jnp.mean((x @ w) ** 2)


def ranks(w, x):
    return jnp.max(jnp.tanh(x @ w)[:, 0])


update_actor, update_critic = make_update(squares), make_update(ranks)
x = np.ones((4, 3), np.float32)
actor, critic = np.ones((3, 2), np.float32), np.ones((3, 1), np.float32)
for _ in range(3):
    actor = update_actor(actor, x)
    critic = update_critic(critic, x)
